package serve

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

// A locked or busy node has not looked at a key, so asking it is no guess.
func TestKeysOfALockedNodeAreNoGuesses(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	a := newAttempts(func() time.Time { return now })
	ask := func(key string, answer error) error {
		done, err := a.try("192.0.2.7:4000", key)
		if err == nil {
			done(answer)
		}
		return err
	}
	for range 3 * wrongKeys {
		for _, answer := range []error{memory.ErrLocked, fmt.Errorf("app: %w", ErrLimit)} {
			if err := ask("app", answer); err != nil {
				t.Fatal(err)
			}
		}
	}
	for n := range wrongKeys {
		if err := ask(fmt.Sprint("guess", n), fmt.Errorf("key: %w", ErrKey)); err != nil {
			t.Fatalf("guess %d: %v", n, err)
		}
	}
	if err := ask("app", nil); !errors.Is(err, ErrLimit) {
		t.Errorf("after %d wrong keys: %v, want ErrLimit", wrongKeys, err)
	}
	now = now.Add(time.Minute)
	if err := ask("app", nil); err != nil {
		t.Errorf("a minute later: %v", err)
	}
}
