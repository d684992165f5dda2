package store

import (
	"strings"
	"testing"
)

// An address without its scheme may hold a password as well.
func TestNoPasswordInErrors(t *testing.T) {
	for _, text := range []string{"u:topsecret@h", "redis:u:topsecret@h", "redis:/u:topsecret@h:6379/1",
		"u:top/topsecret@h"} {
		_, err := ParseAddress(text)
		if err == nil || strings.Contains(err.Error(), "topsecret") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
