package lockedfile

import "testing"

// TestLatest cuts a write at each of its bytes: the slot before counts until the
// last one is there.
func TestLatest(t *testing.T) {
	const size = 64
	magic := Magic{'t', 'e', 's', 't'}
	file := make([]byte, 2*size)
	if _, _, _, ok := Latest(file, magic); ok {
		t.Fatal("an empty file has a slot")
	}
	next, before := 0, ""
	for sequence, text := range []string{"one", "the second", "3", ""} {
		slot := append(make([]byte, HeadSize), text...)
		Seal(slot, magic, uint64(sequence)+1)
		for cut := range len(slot) {
			torn := append([]byte(nil), file...)
			copy(torn[next*size:], slot[:cut])
			got, _, _, ok := Latest(torn, magic)
			if ok != (sequence > 0) || string(got) != before {
				t.Fatalf("%q cut after %d bytes: %q, %v; want %q", text, cut, got, ok, before)
			}
		}
		copy(file[next*size:], slot)
		got, n, then, ok := Latest(file, magic)
		if !ok || string(got) != text || n != uint64(sequence)+1 || then != 1-next {
			t.Fatalf("%q: %q, sequence %d, next %d, %v", text, got, n, then, ok)
		}
		next, before = then, text
	}
	if _, _, _, ok := Latest(file, Magic{'x'}); ok {
		t.Error("a slot of another format counts")
	}
}
