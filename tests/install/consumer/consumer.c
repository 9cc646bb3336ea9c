/* SPDX-License-Identifier: BSD-2-Clause */
/* Uses the installed library as a stranger would. */
#include <stdio.h>

#include <record/build_id.h>

int main(void)
{
	char text[EP_BUILD_ID_TEXT_MAX];
	struct ep_build_id id;

	if (!ep_build_id_parse("0xabcd", 6, &id))
		return 1;
	puts(ep_build_id_format(&id, text));
	return 0;
}
