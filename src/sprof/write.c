/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing a profile in the format asked for. */
#include "sprof/write.h"

#include "sprof/private.h"

struct ep_error *ep_sprof_write(const struct ep_sprof *prof, const struct ep_sprof_write_opts *opts,
                                FILE *out)
{
	if (!prof->finalised)
		return ep_error_create(EP_ERROR_BUG, "profile written before it was finalised");
	if ((opts->compress || opts->md5 || opts->provenance) && opts->format != EP_SPROF_EXTBINARY)
		return ep_error_create(EP_ERROR_USAGE,
		                       "only the extbinary format has GUIDs, compression and "
		                       "provenance");
	if (opts->format == EP_SPROF_TEXT)
		return ep_sprof_write_text(prof, out);
	if (opts->format == EP_SPROF_EXTBINARY || opts->format == EP_SPROF_BINARY)
		return ep_sprof_write_binary(prof, opts, out);
	return ep_error_create(EP_ERROR_USAGE, "no format to write given");
}
