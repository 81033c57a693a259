/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The tuner's answer: one object for programs, from which the table and the page are made. */
#include "tune.h"

static json_t *
json_outcome(const struct outcome *o)
{
	return json_pack("{s:I, s:f, s:f, s:f, s:f, s:f}", "ids", (json_int_t)o->ids, "stall_probability", o->stalled,
	                 "delay_p99_ms", o->p99_ms, "delay_most_ms", o->most_ms, "lead_most_ms", o->lead_most_ms, "refused",
	                 o->refused);
}

static json_t *
json_candidate(const struct candidate *c)
{
	json_t *one = json_pack("{s:o, s:f, s:f, s:f, s:I, s:f, s:b, s:f, s:o}", "layout", json_layout(&c->plan.layout),
	                        "life_years", c->plan.life_years, "ceiling_per_node_per_second", c->plan.ceiling,
	                        "burst_nodes", c->plan.burst_nodes, "node_numbers",
	                        (json_int_t)firn_layout_nodes(&c->plan.layout), "node_headroom", c->plan.headroom,
	                        "doubled_nodes_fit", c->plan.doubled_fits, "clash_chance_random_nodes", c->plan.clash,
	                        "predicted", json_outcome(&c->predicted));

	if (c->was_measured) {
		(void)json_object_set_new(one, "predicted_of_the_played", json_outcome(&c->played));
		(void)json_object_set_new(one, "measured", json_outcome(&c->measured));
		(void)json_object_set_new(one, "late_ms_share", json_real(c->late));
	}
	if (c->simulated_line != NULL)
		(void)json_object_set(one, "simulated_timeline", c->simulated_line);
	if (c->measured_line != NULL)
		(void)json_object_set(one, "measured_timeline", c->measured_line);
	return one;
}

json_t *
tune_answer(const struct arrivals *arrivals, double measured_s, const struct candidate found[], size_t count)
{
	json_t *best = json_array();
	json_t *all = json_array();

	for (size_t i = 0; i < count; i++) {
		const struct candidate *c = &found[i];
		const struct firn_layout *layout = &c->plan.layout;

		if (i < TUNE_BEST)
			(void)json_array_append_new(best, json_candidate(c));
		(void)json_array_append_new(all, json_pack("{s:i, s:i, s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:f}", "time_bits",
		                                           (int)layout->time_bits, "node_bits", (int)layout->node_bits,
		                                           "sequence_bits", (int)layout->seq_bits, "tick_ms",
		                                           (int)layout->tick_ms, "life_years", c->plan.life_years,
		                                           "node_headroom", c->plan.headroom, "stall_probability",
		                                           c->predicted.stalled, "delay_most_ms", c->predicted.most_ms,
		                                           "lead_most_ms", c->predicted.lead_most_ms, "refused",
		                                           c->predicted.refused));
	}
	return json_pack("{s:f, s:I, s:I, s:f, s:o, s:o}", "mean_per_ms_of_a_node", arrivals->mean, "most_per_ms_of_a_node",
	                 (json_int_t)arrivals->most, "simulated_ms", (json_int_t)arrivals->ms, "measured_s", measured_s,
	                 "layouts", best, "candidates", all);
}

static double
real_of(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

static void
print_outcome(const char *name, const json_t *o)
{
	if (o == NULL)
		return;
	(void)printf("  %-24s %9.4f %% %7.0f ms %7.0f ms %7.0f ms %9.4f %%\n", name, real_of(o, "stall_probability") * 100,
	             real_of(o, "delay_p99_ms"), real_of(o, "delay_most_ms"), real_of(o, "lead_most_ms"),
	             real_of(o, "refused") * 100);
}

static void
print_candidate(const json_t *c)
{
	(void)printf("\n%s%s%s\n", bold(), json_string_value(json_object_get(json_object_get(c, "layout"), "text")), plain());
	print_outcome("predicted", json_object_get(c, "predicted"));
	print_outcome("predicted of the played", json_object_get(c, "predicted_of_the_played"));
	print_outcome("measured", json_object_get(c, "measured"));
	(void)printf("  lasts %.1f years; %.0f IDs a second a node at most\n", real_of(c, "life_years"),
	             real_of(c, "ceiling_per_node_per_second"));
	(void)printf("  %.0f node numbers, %.2f for each node%s; random ones clash with %.3g %%\n", real_of(c, "node_numbers"),
	             real_of(c, "node_headroom"),
	             json_is_true(json_object_get(c, "doubled_nodes_fit")) ? "" : ": too few for a deploy that doubles them",
	             real_of(c, "clash_chance_random_nodes") * 100);
	if (real_of(c, "burst_nodes") > 0)
		(void)printf("  %.0f node%s must share a burst to pass it in one tick\n", real_of(c, "burst_nodes"),
		             real_of(c, "burst_nodes") > 1 ? "s" : "");
	if (real_of(c, "late_ms_share") > 0.01)
		(void)printf("  %sthis machine began %.0f %% of the milliseconds late: their IDs came in a heap%s\n", dim(),
		             real_of(c, "late_ms_share") * 100, plain());
}

void
tune_print(const json_t *answer)
{
	size_t index;
	json_t *one;

	(void)printf("one node is asked for %.4g IDs a millisecond on average, %.0f at most\n\n",
	             real_of(answer, "mean_per_ms_of_a_node"), real_of(answer, "most_per_ms_of_a_node"));
	(void)printf("%s                           callers that wait:               callers that do not:%s\n", bold(), plain());
	(void)printf("%s                              stalled  p99 delay  max delay   max lead     refused%s\n", bold(), plain());
	json_array_foreach(json_object_get(answer, "layouts"), index, one)
		print_candidate(one);
}
