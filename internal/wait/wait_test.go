package wait

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if !For(t.Context(), time.Hour) || time.Since(began) != time.Hour {
			t.Errorf("an hour took %v", time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began = time.Now()
		if For(ctx, time.Hour) || time.Since(began) != time.Minute {
			t.Errorf("the end of the context was heard after %v", time.Since(began))
		}
		if For(ctx, -time.Second) {
			t.Error("a context that ended is alive")
		}
	})
}
