package embedded

import (
	"testing"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, opener)
}

func TestStoreWithExactAppend(t *testing.T) {
	storetest.Run(t, func(t *testing.T) func() relay.Store {
		again := opener(t)
		return func() relay.Store { return storetest.ExactStore(again()) }
	})
}

func opener(t *testing.T) func() relay.Store {
	dir := t.TempDir()
	return func() relay.Store {
		s, err := Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

func TestOneProcess(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if other, err := Open(t.Context(), dir); err == nil {
		t.Error("opened twice")
		other.Close()
	}
}
