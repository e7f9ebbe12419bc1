package journal_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
)

// The relay takes no blob of a worker. So a worker that guesses what a writer
// will send, or knows what it is sending, can't start that upload with other
// bytes, continue it or fill the account. A worker that has a blob that the
// relay has lost leaves it to the others, and syncs on.
func TestThreatWorkerInTheWayOfABlob(t *testing.T) {
	url := serveRelay(t)
	a := newMember(t, url, nil)
	writer, worker := a.let(url, envelope.Writer, nil), a.let(url, envelope.Extractor, &delta.Grant{})
	name := writer.photo(1, 50_000)
	for range 2 { // before the writer's blob is there, and after
		if _, err := worker.at.PutBlob(t.Context(), bytes.NewReader([]byte("in the way"))); !errors.Is(err, remote.ErrForbidden) {
			t.Fatalf("taken of a worker: %v", err)
		}
		writer.sync()
	}
	a.sync()
	worker.sync()
	for _, m := range []*member{a, worker} {
		if err := m.FetchBlob(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	b, err := worker.journal().RemoteBlob(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.at.DeleteBlob(t.Context(), remote.BlobID(b.Sealed), nil); err != nil {
		t.Fatal(err)
	}
	has := func() bool {
		_, _, err := a.at.HasBlob(t.Context(), remote.BlobID(b.Sealed))
		if err != nil && !errors.Is(err, remote.ErrNotFound) {
			t.Fatal(err)
		}
		return err == nil
	}
	for _, m := range []*member{worker, a} {
		if err := m.journal().RecordDoubt(t.Context(), b.Sealed); err != nil {
			t.Fatal(err)
		}
		m.say(memory.Assertion{Memory: memory.ID{1}, Act: memory.ActPin})
		m.sync()
		if is := has(); is != (m == a) {
			t.Errorf("the relay has it: %v", is)
		}
	}
}
