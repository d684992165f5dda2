package registry

import (
	"encoding/json"
	"reflect"
	"testing"
)

func FuzzEncoder(f *testing.F) {
	for _, s := range []string{"", "a\"\\\n\x00\x1f\x7fü\u2028", "\xff\xfe", "<&>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		o := encoder{}
		o.open("", '{')
		o.string("s", s)
		o.string("t", s)
		o.close('}')
		standard, err := json.Marshal(map[string]string{"s": s, "t": s})
		if err != nil {
			t.Fatal(err)
		}
		var got, want map[string]string
		if err := json.Unmarshal(o.b, &got); err != nil {
			t.Fatalf("%s: %v", o.b, err)
		}
		_ = json.Unmarshal(standard, &want)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}
