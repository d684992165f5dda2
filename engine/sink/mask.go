package sink

// This file keeps passwords out of logs.

import "github.com/retrysh/retry/engine/message"

// masked is argv with the password of each scheme://user:password@host shown as
// xxxxx. What holds none is returned as it is.
func masked(argv []string) []string {
	for i, word := range argv {
		if message.Masked(word) != word {
			copied := append([]string(nil), argv...)
			for j := i; j < len(copied); j++ {
				copied[j] = message.Masked(copied[j])
			}
			return copied
		}
	}
	return argv
}
