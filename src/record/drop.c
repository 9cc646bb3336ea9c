/* SPDX-License-Identifier: BSD-2-Clause */
/* The texts of the drop reasons. */
#include "record/drop.h"

struct text {
	const char *name, *unit, *help;
};

#define TEXT(name, text, unit, help) {text, unit, help},
static const struct text drop_texts[] = {EP_DROPS(TEXT)};
static const struct text note_texts[] = {EP_NOTES(TEXT)};
#undef TEXT

const char *ep_drop_name(enum ep_drop drop)
{
	return drop_texts[drop].name;
}

const char *ep_drop_unit(enum ep_drop drop)
{
	return drop_texts[drop].unit;
}

const char *ep_drop_help(enum ep_drop drop)
{
	return drop_texts[drop].help;
}

const char *ep_note_name(enum ep_note note)
{
	return note_texts[note].name;
}

const char *ep_note_unit(enum ep_note note)
{
	return note_texts[note].unit;
}

const char *ep_note_help(enum ep_note note)
{
	return note_texts[note].help;
}

void ep_drops_add(struct ep_drops *to, const struct ep_drops *from)
{
	for (size_t i = 0; i < EP_DROP_N; i++)
		to->n[i] = ep_count_add(to->n[i], from->n[i]);
	for (size_t i = 0; i < EP_NOTE_N; i++)
		to->notes[i] = ep_count_add(to->notes[i], from->notes[i]);
}

bool ep_drops_empty(const struct ep_drops *drops)
{
	for (size_t i = 0; i < EP_DROP_N; i++)
		if (drops->n[i])
			return false;
	return true;
}
