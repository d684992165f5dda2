package sink

import "testing"

func TestMasked(t *testing.T) {
	argv := []string{"curl", "https://u:secret@host", "-o", "x"}
	if got := masked(argv); got[1] != "https://u:xxxxx@host" || argv[1] != "https://u:secret@host" || len(got) != 4 {
		t.Errorf("masked: %q, and the argv became %q", got, argv)
	}
	if plain := []string{"true"}; &masked(plain)[0] != &plain[0] {
		t.Error("what holds no password is copied")
	}
}
