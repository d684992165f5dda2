package classify

// This file changes in each failure what says nothing of its cause, the tool's
// name, paths, hosts, long numbers and the marks before a message, and checks
// that the verdict stays.

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// perturbations are the changes, in their order.
var perturbations = []struct {
	what *regexp.Regexp
	by   string
}{
	{regexp.MustCompile(`\b127\.0\.0\.1\b`), "198.51.100.7"},
	{regexp.MustCompile(`\blocalhost\b`), "box7.example.org"},
	{regexp.MustCompile(`\b[a-z0-9-]+\.(?:corp\.)?(?:test|lan)\b`), "qz9.example.org"},
	{regexp.MustCompile(`/(?:home|root|srv|tmp|opt|var)/[\w.-]+`), "/data/u1"},
	{regexp.MustCompile(`(?m)^(?:error|fatal|Error|ERROR|FATAL|Fatal): `), "✖ "},
	{regexp.MustCompile(`\b(?:1[5-9]|[2-6])\d{4}\b`), "31337"},
}

// perturbed is the failure as another tool would have printed it elsewhere.
func (r *record) perturbed() record {
	const name = "frobtool"
	named := regexp.MustCompile(`(?m)(^|\W)` + regexp.QuoteMeta(r.Tool) + `(: |\[\d+\]:)`)
	change := func(s string) string {
		s = named.ReplaceAllString(s, "${1}"+name+"${2}")
		for _, p := range perturbations {
			s = p.what.ReplaceAllString(s, p.by)
		}
		return s
	}
	q := *r
	q.Stdout, q.Stderr, q.Argv = change(r.Stdout), change(r.Stderr), slices.Clone(r.Argv)
	for i, arg := range q.Argv {
		if q.Argv[i] = change(arg); arg == r.Tool {
			q.Argv[i] = name
		}
	}
	return q
}

func TestVerdictSurvivesOtherNames(t *testing.T) {
	if testing.Short() {
		t.Skip("works through a corpus on one goroutine")
	}
	learnFolds(t)
	strangers := strangerTables{}
	var all, flipped int
	for _, path := range corpora {
		for _, r := range readCorpus(t, path) {
			table := strangers.of(&r)
			table.words = withoutTool(r.Tool)
			q := r.perturbed()
			before, after := table.Judge(r.failure()), table.Judge(q.failure())
			all++
			if before.Verdict != after.Verdict {
				flipped++
				t.Logf("%s: %s by %q, and %s by %q: %.100q", r.ID, before.Verdict, before.Rule, after.Verdict, after.Rule, strings.TrimSpace(q.Stdout+q.Stderr))
			}
		}
	}
	t.Logf("%d of %d verdicts changed", flipped, all)
	if share(flipped, all) > 0.01 {
		t.Error("the verdict depends on what says nothing of the cause")
	}
}
