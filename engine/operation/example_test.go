package operation_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/retrysh/retry/engine/operation"
)

func Example() {
	registry := operation.New(operation.Policy{
		MaxRetries:   3,
		InitialDelay: 10 * time.Millisecond,
		MaxDelay:     time.Second,
		Multiplier:   2,
		Jitter:       0.1,
	})
	calls := 0
	ok := registry.Execute(context.Background(), "charge-4711", func(context.Context) (bool, error) {
		if calls++; calls < 3 {
			return false, errors.New("connection refused")
		}
		return true, nil
	})
	fmt.Println(ok, registry.Status("charge-4711"), registry.Attempts("charge-4711"))
	// Output: true SUCCEEDED 3
}

func ExampleRegistry_LastError() {
	registry := operation.New(operation.Policy{MaxRetries: 1, MaxDelay: time.Millisecond, Multiplier: 1})
	registry.Execute(context.Background(), "import", func(context.Context) (bool, error) {
		return false, errors.New("no space left on device")
	})
	fmt.Println(registry.Status("import"), registry.LastError("import"))
	// Output: FAILED no space left on device
}

// A wait ends at once when its operation is cancelled.
func ExampleRegistry_Cancel() {
	registry := operation.New(operation.Policy{MaxRetries: 5, InitialDelay: time.Hour, MaxDelay: time.Hour,
		Multiplier: 1})
	failed := make(chan struct{})
	go func() {
		<-failed
		for registry.Status("sync") != operation.Retrying {
			time.Sleep(time.Millisecond)
		}
		registry.Cancel("sync")
	}()
	ok := registry.Execute(context.Background(), "sync", func(context.Context) (bool, error) {
		close(failed)
		return false, errors.New("timed out")
	})
	fmt.Println(ok, registry.Status("sync"), registry.Attempts("sync"))
	// Output: false CANCELLED 1
}

// A policy counts for the operations that start from then on.
func ExampleRegistry_Configure() {
	registry := operation.New(operation.Policy{MaxRetries: 3, Multiplier: 1})
	registry.Configure(operation.Policy{})
	registry.Execute(context.Background(), "once", func(context.Context) (bool, error) { return false, nil })
	fmt.Println(registry.Attempts("once"))
	registry.Reset("once")
	fmt.Println(registry.Status("once"))
	// Output:
	// 1
	// PENDING
}
