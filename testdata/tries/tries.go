// Package tries says how often tests repeat what chance or a great number of cases decides.
// A plain run does what shows a fault that is there; $RETRY_TEST_TRIES, a whole number, has
// as many times more done, as every night.
package tries

import (
	"os"
	"strconv"
)

// Of is how often to try what is tried usual times in a plain run.
func Of(usual int) int { return usual * factor() }

// Every is the distance of the cases to take of many, of which a plain run takes every
// usual-th.
func Every(usual int) int { return max(1, usual/factor()) }

func factor() int {
	n, _ := strconv.Atoi(os.Getenv("RETRY_TEST_TRIES"))
	return max(1, n)
}
