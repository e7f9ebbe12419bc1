package journal_test

import (
	"context"
	"errors"
	"testing"

	"github.com/locket-dev/locket/sync/replica"
)

// brokenLog returns the entries after one entry, and then fails.
type brokenLog struct {
	replica.Remote
	last uint64
}

var errLog = errors.New("the log breaks off")

func (b brokenLog) Log(ctx context.Context, n uint64) ([][]byte, error) {
	if n > b.last {
		return nil, errLog
	}
	return b.Remote.Log(ctx, n)
}

// The keys of an epoch are available as soon as its entry is, whatever the
// relay says next. What is sent after that is sealed with them.
func TestEpochKeysComeWithTheirEntry(t *testing.T) {
	a, b := pair(t)
	a.sync()
	b.sync()
	status, err := b.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	epoch, err := a.Rotate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.close()
	b.remote = func(r replica.Remote) replica.Remote { return brokenLog{r, status.Log} }
	b.open()
	if _, ok := b.ring.Epoch(b.ring.Space(), epoch); ok {
		t.Fatal("the key is here before")
	}
	if err := b.Sync(t.Context()); !errors.Is(err, errLog) {
		t.Fatal(err)
	}
	if _, ok := b.ring.Epoch(b.ring.Space(), epoch); !ok {
		t.Errorf("the entry of epoch %d is here, and not its key", epoch)
	}
}
