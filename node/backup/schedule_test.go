package backup

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locket-dev/locket/memory"
)

// A backup is made when it is due, across restarts. A failure is retried sooner,
// recorded, and cleared after a success. With a locked node it waits.
func TestSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		home := t.TempDir()
		began := time.Now()
		var at []time.Duration
		var results []error
		run := func(d time.Duration) {
			s := Schedule{Home: home, To: "/stick", Every: 24 * time.Hour, Log: slog.New(slog.DiscardHandler), Do: func(context.Context) (Written, bool, error) {
				var err error
				if len(results) > 0 {
					err, results = results[0], results[1:]
				}
				if !errors.Is(err, memory.ErrLocked) {
					at = append(at, time.Since(began).Round(time.Hour))
				}
				return Written{Records: 7}, true, err
			}}
			ctx, end := context.WithTimeout(t.Context(), d)
			defer end()
			s.Run(ctx)
		}
		results = []error{memory.ErrLocked, memory.ErrLocked}
		run(30 * time.Hour)
		run(30 * time.Hour)
		if want := []time.Duration{0, 24 * time.Hour, 48 * time.Hour}; !slices.Equal(at, want) {
			t.Errorf("at %v, want %v", at, want)
		}
		gone := errors.New("the stick is gone")
		results = slices.Repeat([]error{gone}, 300)
		before := len(at)
		run(12*time.Hour + 30*time.Minute) // due is 72 h
		st, err := StateOf(home)
		if err != nil || st.Failures == 0 || st.Error != gone.Error() || st.At.IsZero() || st.Written.Records != 7 || len(at) == before {
			t.Errorf("%+v, %v, %v", st, err, at)
		}
		results = nil
		run(12 * time.Hour)
		if st, err := StateOf(home); err != nil || st.Failures != 0 || st.Error != "" || !st.Vault {
			t.Errorf("%+v, %v", st, err)
		}
	})
}
