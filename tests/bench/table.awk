#!/usr/bin/awk -f
# SPDX-License-Identifier: BSD-2-Clause
# The benches' table from lines "KEY wall-us CPU-us peak-KB" and "KEY number".

{ us[$1] = $2; cpu[$1] = $3; kb[$1] = $4 }

function seconds(key) { return us[key] / 1e6 }

function line(name, key, note)
{
	printf "  %-42s %8.3f s %8.2f s %8.1f MB  %s\n", name, seconds(key), cpu[key] / 1e6, \
		kb[key] / 1024, note
}

function versus(key, ours)
{
	return sprintf("%.1fx the time (CPU %.1fx), %.1fx the memory", us[key] / us[ours], \
		cpu[key] / cpu[ours], kb[key] / kb[ours])
}

function goal(name, value, bound, unit, at_most)
{
	met = at_most ? value <= bound : value >= bound
	printf "  %-42s %9.2f %s (goal: %s %g) %s\n", name, value, unit, at_most ? "at most" : \
		"at least", bound, met ? "met" : "MISSED"
}

function rate(name, key, amount, unit) { line(name, key, sprintf("%.1f %s", amount / seconds(key), unit)) }

function min(a, b) { return a < b ? a : b }

END {
	printf "\nsqlite3: %d samples, %.2f M branch records; medians of wall time, CPU time, peak memory\n", \
		us["n_samples"], us["n_records"] / 1e6
	if (us["busy"] >= 1)
		printf "The machine was busy (%.1f processes running or waiting): wall times are too high.\n", \
			us["busy"]
	print "\nperf.data to a profile"
	line("edgeprof emit perf.data (fold and emit)", "emit_data", "")
	if (us["profgen_data"]) {
		line("llvm-profgen-22 --perfdata", "profgen_data", versus("profgen_data", "emit_data"))
		line("create_llvm_prof", "autofdo", versus("autofdo", "emit_data"))
		goal("times faster than the faster peer", \
			min(us["profgen_data"], us["autofdo"]) / us["emit_data"], 25, "x")
		goal("memory, of the smaller of theirs", \
			kb["emit_data"] / min(kb["profgen_data"], kb["autofdo"]), 0.25, "x", 1)
	}
	if (us["same"] != "")
		printf "  with --compat=llvm-profgen its profile %s\n", us["same"] == 1 ? \
			"is the same, byte for byte" : "DIFFERS"
	print "\nperf script text to a profile"
	line("edgeprof emit script", "emit_script", "")
	if (us["profgen_script"])
		line("llvm-profgen-22 --perfscript", "profgen_script", versus("profgen_script", "emit_script"))

	mrec = us["n_records"] / 1e6
	print "\nedgeprof step by step"
	rate("fold -j 1 perf.data", "fold_j1", mrec, "M records/s")
	rate("fold -j 2 perf.data", "fold_j2", mrec, "M records/s")
	goal("fold on one core, by CPU time", mrec / (cpu["fold_j1"] / 1e6), 40, "M records/s")
	rate("fold capture.epr", "fold_raw", mrec, "M records/s")
	rate("fold -j 1 script", "fold_script_j1", us["b_script"] / 1e6, "MB/s")
	rate("fold script", "fold_script", us["b_script"] / 1e6, "MB/s")
	rate("merge of 256 .edges files", "merge", 256, "files/s")
	line("emit fold.edges", "emit_edges", "")

	print "\nrecording sqlite3"
	printf "  %-42s %9.3f s\n", "native", seconds("native")
	printf "  %-42s %9.3f s  %.1fx native\n", "plain QEMU", seconds("qemu"), us["qemu"] / us["native"]
	printf "  %-42s %9.3f s  %.1fx native, %.2fx plain QEMU\n", "edgeprof record --backend soft", \
		seconds("record"), us["record"] / us["native"], us["record"] / us["qemu"]
	printf "  %-42s %9.3f s  %.1fx native, %.2fx plain QEMU\n", "edgeprof record --backend soft --exact", \
		seconds("exact"), us["exact"] / us["native"], us["exact"] / us["qemu"]

	print "\nsizes"
	printf "  %-42s %9.2f MB  %.2f bytes a record\n", "perf.data", us["b_data"] / 1e6, us["b_data"] / us["n_records"]
	printf "  %-42s %9.2f MB  %.2f bytes a record\n", "perf script text", us["b_script"] / 1e6, us["b_script"] / us["n_records"]
	printf "  %-42s %9.2f MB  %.2f bytes a record\n", "raw capture (.epr)", us["b_epr"] / 1e6, us["b_epr"] / us["n_records"]
	printf "  %-42s %9.3f MB  1/%d of perf.data\n", ".edges", us["b_edges"] / 1e6, us["b_data"] / us["b_edges"]
}
