package wearables

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
)

// If there are more devices than can be kept, those that were not heard for the longest time are
// removed.
func TestLastSeenIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := New(nil, config.Broker{}, nil, nil, Web{})
		for i := range maxKept + 3 {
			w.NoteEvent(&memory.Event{ID: memory.EventID{Device: strconv.Itoa(i)}})
			time.Sleep(time.Second)
		}
		kept := w.heard.newest()
		if _, old := kept["2"]; old || len(kept) != maxKept || kept["3"].IsZero() {
			t.Errorf("%d are kept, the third oldest: %v", len(kept), old)
		}
	})
}

// The time when a wearable was last heard is written seldom, however often it sends, and again
// after a failure.
func TestLastSeenIsWrittenSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := New(nil, config.Broker{}, nil, nil, Web{})
		var full error
		writes := 0
		commit := func(context.Context, func(*store.Tx) error) error { writes++; return full }
		save := func(atOnce bool) error { return w.SaveHeard(t.Context(), commit, atOnce) }
		if err := save(true); err != nil || writes != 0 {
			t.Errorf("%d writes of nothing, %v", writes, err)
		}
		for range 150 { // two and a half minutes
			w.NoteEvent(&memory.Event{ID: memory.EventID{Device: "pin"}})
			if err := save(false); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		if writes != 3 {
			t.Errorf("%d writes, want 3", writes)
		}
		full = errors.New("disk full")
		if err := save(true); !errors.Is(err, full) {
			t.Errorf("a full disk: %v", err)
		}
		if err := save(false); err != nil || writes != 4 {
			t.Errorf("it is tried at once again: %d, %v", writes, err)
		}
		full = nil
		time.Sleep(saveEvery)
		if err := save(false); err != nil || writes != 5 {
			t.Errorf("%d writes once there is room, %v", writes, err)
		}
		time.Sleep(saveEvery)
		if err := save(true); err != nil || writes != 5 {
			t.Errorf("what was written is written again: %d, %v", writes, err)
		}
	})
}
