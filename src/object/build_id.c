/* SPDX-License-Identifier: BSD-2-Clause */
/* The identity of a binary: its build-id note, else the hash of its bytes. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/digest.h"
#include "object/internal.h"

/* All notes of a file together. Executables have some hundred bytes; core files, which have no
 * identity, much more. */
#define NOTES_MAX_BYTES (UINT64_C(1) << 24)
#define NOTE_GNU_BUILD_ID 3

static void skip_to_align(struct ep_bytes *b, size_t align)
{
	size_t pad = -ep_bytes_offset(b) & (align - 1);

	/* The last note of a segment may lack its padding. */
	ep_bytes_take(b, EP_MIN(pad, ep_bytes_left(b)));
}

static bool find_in_notes(const unsigned char *data, size_t n, bool swap, size_t align,
                          struct ep_build_id *ret)
{
	struct ep_bytes b = ep_bytes_init(data, n, swap);

	while (ep_bytes_left(&b)) {
		uint32_t n_name = ep_bytes_u32(&b), n_desc = ep_bytes_u32(&b);
		uint32_t type = ep_bytes_u32(&b);
		const unsigned char *name = ep_bytes_take(&b, n_name);
		skip_to_align(&b, align);
		const unsigned char *desc = ep_bytes_take(&b, n_desc);
		if (b.failed)
			return false;
		if (type == NOTE_GNU_BUILD_ID && n_name == 4 && !memcmp(name, "GNU", 4) && n_desc) {
			*ret = ep_build_id_make(EP_BUILD_ID_GNU, desc, n_desc);
			return true;
		}
		skip_to_align(&b, align);
	}
	return false;
}

struct search {
	const struct ep_note_source *source;
	bool swap;
	uint64_t budget; /* bytes of notes still to be looked at */
};

/* An alignment of 0 or 1 means 4, and files exist whose 8 is not what their notes keep to. */
static bool find_in_block(struct search *search, uint64_t foff, uint64_t n, uint64_t align,
                          struct ep_build_id *ret)
{
	if (n > search->budget)
		return false;
	search->budget -= n;
	const unsigned char *data = search->source->bytes(search->source->payload, foff, n);
	if (!data)
		return false;
	size_t first = align == 8 ? 8 : 4;
	return find_in_notes(data, (size_t)n, search->swap, first, ret) ||
	       find_in_notes(data, (size_t)n, search->swap, 12 - first, ret);
}

bool ep_object_find_build_id(Elf *elf, bool swap, const struct ep_note_source *source,
                             struct ep_build_id *ret)
{
	struct search search = {source, swap, NOTES_MAX_BYTES};
	size_t n_phdrs = 0;
	Elf_Scn *scn = NULL;
	GElf_Phdr phdr;
	GElf_Shdr shdr;

	if (elf_getphdrnum(elf, &n_phdrs))
		n_phdrs = 0;
	for (size_t i = 0; i < n_phdrs && gelf_getphdr(elf, (int)i, &phdr); i++)
		if (phdr.p_type == PT_NOTE &&
		    find_in_block(&search, phdr.p_offset, phdr.p_filesz, phdr.p_align, ret))
			return true;
	while ((scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, &shdr))
		if (shdr.sh_type == SHT_NOTE &&
		    find_in_block(&search, shdr.sh_offset, shdr.sh_size, shdr.sh_addralign, ret))
			return true;
	return false;
}

struct magic {
	const char *bytes;
	size_t n;
	const char *what;
};

static const struct magic magics[] = {
    {"MZ", 2, "a PE/COFF file"},
    {"\xfe\xed\xfa\xce", 4, "a Mach-O file"},
    {"\xfe\xed\xfa\xcf", 4, "a Mach-O file"},
    {"\xce\xfa\xed\xfe", 4, "a Mach-O file"},
    {"\xcf\xfa\xed\xfe", 4, "a Mach-O file"},
    {"\xca\xfe\xba\xbe", 4, "a Mach-O universal file"},
    {"\x64\x86", 2, "a COFF object for x86-64"},
    {"\x64\xaa", 2, "a COFF object for AArch64"},
    {"!<arch>\n", 8, "an archive"},
    {"BC\xc0\xde", 4, "LLVM bitcode"},
    {"#!", 2, "a script"},
};

struct ep_error *ep_object_check_magic(const char *path, const unsigned char *data, size_t n)
{
	if (n >= 4 && !memcmp(data, "\177ELF", 4))
		return NULL;
	for (size_t i = 0; i < EP_ARRAY_LEN(magics); i++)
		if (n >= magics[i].n && !memcmp(data, magics[i].bytes, magics[i].n))
			return ep_error_create(EP_ERROR_UNSUPPORTED, "%s: not an ELF file: %s",
			                       path, magics[i].what);
	return ep_error_create(EP_ERROR_UNSUPPORTED, "%s: not an ELF file%s", path,
	                       n ? "" : ": it is empty");
}

struct ep_error *ep_object_elf_error(const char *path, const char *what)
{
	const char *why = elf_errmsg(elf_errno());

	/* An unknown class or kind of file is no error to libelf. */
	return ep_error_create(EP_ERROR_BAD_DATA, "%s: %s%s%s", path, what, why ? ": " : "",
	                       why ? why : "");
}

struct fd_notes {
	int fd;
	const char *path;
	uint64_t file_size;
	unsigned char *buf;
};

static const unsigned char *read_notes(void *payload, uint64_t foff, uint64_t n)
{
	struct fd_notes *notes = payload;

	if (foff > notes->file_size || n > notes->file_size - foff)
		return NULL;
	free(notes->buf);
	notes->buf = malloc((size_t)n + !n);
	for (size_t done = 0; notes->buf && done < n;) {
		ssize_t got =
		    pread(notes->fd, notes->buf + done, (size_t)n - done, (off_t)(foff + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return NULL;
		done += (size_t)got;
	}
	return notes->buf;
}

static struct ep_error *hash_file(int fd, const char *path, struct ep_build_id *ret)
{
	struct ep_digester *digester;
	uint8_t digest[EP_DIGEST_SIZE];
	size_t n, buf_size = 1 << 18;
	ep_autofree unsigned char *buf = malloc(buf_size);

	if (!buf)
		return ep_error_nomem();
	if (lseek(fd, 0, SEEK_SET) < 0)
		return ep_error_os(errno, "%s", path);
	EP_TRY(ep_digester_create(&digester));
	do {
		struct ep_error *err = ep_read_full(fd, path, buf, buf_size, &n);
		if (err) {
			ep_digester_destroy(digester);
			return err;
		}
		ep_digester_add(digester, buf, n);
	} while (n == buf_size);
	ep_digester_finish(digester, digest);
	*ret = ep_build_id_make(EP_BUILD_ID_HASH, digest, sizeof(digest));
	return NULL;
}

/* The note's id if there is one, else an id of size 0. */
static struct ep_error *read_headers(int fd, const char *path, uint64_t file_size,
                                     struct ep_build_id *id_ret, uint16_t *machine_ret)
{
	struct fd_notes notes = {.fd = fd, .path = path, .file_size = file_size};
	struct ep_note_source source = {read_notes, &notes};
	struct ep_error *err = NULL;
	GElf_Ehdr ehdr;

	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &ehdr)) {
		err = ep_object_elf_error(path, "bad ELF header");
	} else {
		bool swap = ep_swap_for(ehdr.e_ident[EI_DATA] == ELFDATA2MSB);
		if (!ep_object_find_build_id(elf, swap, &source, id_ret))
			*id_ret = (struct ep_build_id){0};
		*machine_ret = ehdr.e_machine;
	}
	free(notes.buf);
	elf_end(elf);
	return err;
}

struct ep_error *ep_object_build_id(const char *path, struct ep_build_id *id_ret,
                                    uint16_t *machine_ret)
{
	ep_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct ep_build_id id = {0};
	unsigned char magic[8];
	uint16_t machine = 0;
	struct stat st;
	size_t n;

	/* O_NONBLOCK: the path comes from a recording, and may name a fifo here. */
	if (fd < 0 || fstat(fd, &st) < 0)
		return ep_error_os(errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return ep_error_create(EP_ERROR_UNSUPPORTED, "%s: not a regular file", path);
	EP_TRY(ep_read_full(fd, path, magic, sizeof(magic), &n));
	EP_TRY(ep_object_check_magic(path, magic, n));
	EP_TRY(read_headers(fd, path, (uint64_t)st.st_size, &id, &machine));
	if (!id.size)
		EP_TRY(hash_file(fd, path, &id));
	*id_ret = id;
	if (machine_ret)
		*machine_ret = machine;
	return NULL;
}
