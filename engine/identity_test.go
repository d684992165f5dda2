package engine

import (
	"regexp"
	"strings"
	"testing"
)

// FuzzTraceparent continues any trace: what the command gets is valid (W3C Trace Context,
// section 3.2.2), and it continues a valid one.
func FuzzTraceparent(f *testing.F) {
	const id, span = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	for _, seed := range []string{"", "00-" + id + "-" + span + "-01", "cc-" + id + "-" + span + "-01-more",
		"ff-" + id + "-" + span + "-00", "00-" + id + "-" + span + "-0g",
		"00-" + strings.Repeat("0", 32) + "-" + span + "-01", "---", "\x00"} {
		f.Add(seed)
	}
	valid := regexp.MustCompile(`^[0-9a-f]{32}/[0-9a-f]{16}/0[0-3]$`)
	f.Fuzz(func(t *testing.T, traceparent string) {
		n := uint64(0)
		got := ContinueTrace(traceparent, func() uint64 { n++; return n })
		if !valid.MatchString(got.ID+"/"+got.Span+"/"+got.Flags) || strings.Trim(got.ID, "0") == "" ||
			strings.Trim(got.Span, "0") == "" {
			t.Errorf("%q: %+v", traceparent, got)
		}
		if got.Parent != "" && !strings.Contains(traceparent, got.ID+"-"+got.Parent) {
			t.Errorf("%q: %+v is not of it", traceparent, got)
		}
	})
}
