package guard

import (
	"encoding/binary"
	"math/rand/v2"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 15)) }

func appendVarint(text []byte, n int64) []byte { return binary.AppendVarint(text, n) }

func varints(text []byte) (list []int64) {
	for len(text) > 0 {
		n, size := binary.Varint(text)
		if size <= 0 {
			return nil
		}
		list, text = append(list, n), text[size:]
	}
	return list
}
