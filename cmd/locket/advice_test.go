package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

func TestDamageIsToldWithAdvice(t *testing.T) {
	file := &store.Damage{Kind: "table file", Key: "000003.sst", What: "its index was altered"}
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.Join(fmt.Errorf("open: %w", file)), "The store's table file 000003.sst is damaged; the rest is untouched. Restore"},
		{fmt.Errorf("share: %w", memory.ErrDamaged), "What is named here is damaged"},
	} {
		if got := new(app).advice(c.err); !strings.HasPrefix(got, c.want) {
			t.Errorf("%v: %q, want %q…", c.err, got, c.want)
		}
	}
}
