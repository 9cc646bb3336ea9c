/* SPDX-License-Identifier: BSD-2-Clause */
/* Compressed sections: sizes before and after, then a zlib stream. */
#include <zlib.h>

#include "sprof/private.h"

/* zlib never gains more than this. */
#define RATIO_MAX 1032

static struct ep_error *deflate_all(z_stream *z, struct ep_buf *out)
{
	unsigned char chunk[16384];
	int status;

	do {
		z->next_out = chunk;
		z->avail_out = sizeof(chunk);
		status = deflate(z, Z_FINISH);
		ep_buf_put(out, chunk, sizeof(chunk) - z->avail_out);
	} while (status == Z_OK || status == Z_BUF_ERROR);
	if (status != Z_STREAM_END || out->failed)
		return ep_error_nomem();
	return NULL;
}

struct ep_error *ep_sprof_deflate(const void *data, size_t n, struct ep_buf *out)
{
	struct ep_buf packed = {0};
	z_stream z = {0};

	if (!n)
		return NULL;
	if (n > EP_SPROF_SECTION_MAX)
		return ep_error_hint(ep_error_create(EP_ERROR_UNSUPPORTED,
		                                     "a section of %zu bytes cannot be compressed",
		                                     n),
		                     "write the profile uncompressed");
	if (deflateInit(&z, Z_BEST_COMPRESSION) != Z_OK)
		return ep_error_nomem();
	z.next_in = (unsigned char *)(uintptr_t)data;
	z.avail_in = (uInt)n;
	struct ep_error *err = deflate_all(&z, &packed);
	deflateEnd(&z);
	if (!err) {
		ep_buf_uleb(out, n);
		ep_buf_uleb(out, packed.n);
		ep_buf_put(out, packed.v, packed.n);
		if (out->failed)
			err = ep_error_nomem();
	}
	ep_buf_deinit(&packed);
	return err;
}

static bool inflate_all(const unsigned char *data, size_t n, unsigned char *out, size_t n_out)
{
	z_stream z = {.next_in = (unsigned char *)(uintptr_t)data, .avail_in = (uInt)n};

	if (inflateInit(&z) != Z_OK)
		return false;
	z.next_out = out;
	z.avail_out = (uInt)n_out;
	bool ok = inflate(&z, Z_FINISH) == Z_STREAM_END && !z.avail_in && !z.avail_out;
	inflateEnd(&z);
	return ok;
}

struct ep_error *ep_sprof_inflate(const void *data, size_t n, size_t max_bytes, unsigned char **ret,
                                  size_t *n_ret)
{
	struct ep_bytes b = ep_bytes_init(data, n, ep_swap_for(false));
	uint64_t n_out = ep_bytes_uleb(&b), n_in = ep_bytes_uleb(&b);

	if (b.failed || n_in != ep_bytes_left(&b))
		return ep_error_create(EP_ERROR_BAD_DATA, "sizes of the compressed data are wrong");
	if (n_in > EP_SPROF_SECTION_MAX || n_out > EP_SPROF_SECTION_MAX || n_out / RATIO_MAX > n_in)
		return ep_error_create(EP_ERROR_BAD_DATA,
		                       "impossible size of compressed data: %llu bytes from %llu",
		                       (unsigned long long)n_out, (unsigned long long)n_in);
	if (n_out > max_bytes)
		return ep_error_create(EP_ERROR_NOMEM,
		                       "%llu bytes of compressed data are over the memory limit",
		                       (unsigned long long)n_out);
	ep_autofree unsigned char *out = malloc((size_t)n_out + !n_out);
	if (!out)
		return ep_error_nomem();
	if (!inflate_all(b.pos, (size_t)n_in, out, (size_t)n_out))
		return ep_error_create(EP_ERROR_BAD_DATA, "damaged compressed data");
	*ret = ep_take(out);
	*n_ret = (size_t)n_out;
	return NULL;
}
