package replica_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/journal"
	"github.com/locket-dev/locket/sync/replica"
)

var updateRestore = flag.Bool("update-restore", false, "write testdata/restore/vectors.json anew")

type hexBytes []byte

func (b hexBytes) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(b)), nil }
func (b *hexBytes) UnmarshalText(t []byte) (err error) {
	*b, err = hex.DecodeString(string(t))
	return err
}

// restoreVectors is testdata/restore/vectors.json, described in its README.md.
type restoreVectors struct {
	Phrase string `json:"phrase"`
	Member struct {
		ID   memory.MemberID `json:"id"`
		Seed hexBytes        `json:"seed"`     // Ed25519
		Pair hexBytes        `json:"identity"` // of mlkem768x25519
	} `json:"member"`
	Log      []hexBytes                 `json:"log"`
	Deltas   []hexBytes                 `json:"deltas"`
	Blobs    map[envelope.Hash]hexBytes `json:"blobs"`
	Memories map[memory.ID]told         `json:"memories"`
	After    []memory.ID                `json:"after"` // memories that no snapshot has
	Photos   map[string]envelope.Hash   `json:"photos"`
	Cases    []restoreCase              `json:"cases"`
}

// restoreCase is a case of what a relay may show about snapshots.
type restoreCase struct {
	Name          string                     `json:"name"`
	Checkpoints   []listedWire               `json:"checkpoints"`
	Changed       map[envelope.Hash]hexBytes `json:"changed,omitempty"` // replaces the content of these blobs
	RemovedBodies []envelope.Hash            `json:"gone,omitempty"`    // blobs that are missing
	Takes         string                     `json:"takes,omitempty"`   // the standing of the snapshot that is taken
	Refused       string                     `json:"refused,omitempty"`
	Headers       bool                       `json:"headers,omitempty"` // only a reader of the headers can tell
}

type listedWire struct {
	Checkpoint hexBytes   `json:"checkpoint"`
	Votes      []hexBytes `json:"votes"`
}

// told is the part of a memory that is compared.
type told struct {
	Text        string             `json:"text"`
	Sensitivity memory.Sensitivity `json:"sensitivity"`
	Pinned      bool               `json:"pinned"`
	Tags        []string           `json:"tags"`
}

// shown implements replica.Remote and replica.Checkpoints: a relay with given content.
type shown struct {
	log, deltas [][]byte
	blobs       map[envelope.Hash][]byte
	checkpoints []replica.Listed
}

func (s *shown) Log(_ context.Context, n uint64) ([][]byte, error) {
	return s.log[min(n, uint64(len(s.log))):], nil
}

func (s *shown) Deltas(_ context.Context, after uint64) (out []replica.Placed, err error) {
	for i := after; i < uint64(len(s.deltas)); i++ {
		out = append(out, replica.Placed{Cursor: i + 1, Delta: s.deltas[i]})
	}
	return out, nil
}

func (s *shown) Upload(_ context.Context, r io.ReadSeeker) (envelope.Hash, error) {
	b, err := io.ReadAll(r)
	id := envelope.Hash(sha256.Sum256(b))
	s.blobs[id] = b
	return id, err
}

func (s *shown) Holds(_ context.Context, id envelope.Hash, size int64) (bool, error) {
	b, ok := s.blobs[id]
	return ok && int64(len(b)) == size, nil
}

func (s *shown) Piece(_ context.Context, id envelope.Hash, from, n, _ int64) ([]byte, error) {
	b, ok := s.blobs[id]
	if !ok || from+n > int64(len(b)) {
		return nil, replica.ErrNotFound
	}
	return b[from : from+n], nil
}

func (s *shown) Download(_ context.Context, id envelope.Hash, f io.ReadWriteSeeker, limit int64) error {
	b, ok := s.blobs[id]
	if !ok {
		return replica.ErrNotFound
	}
	if envelope.Hash(sha256.Sum256(b)) != id || int64(len(b)) > limit {
		return replica.ErrBlob
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := f.Write(b)
	return err
}

func (s *shown) Checkpoints(context.Context) ([]replica.Listed, error) { return s.checkpoints, nil }

func (s *shown) PutCheckpoint(_ context.Context, c *envelope.Checkpoint) error {
	s.checkpoints = append(s.checkpoints, replica.Listed{Checkpoint: c.Bytes()})
	return nil
}

func (*shown) Places(context.Context, uint64) ([]envelope.Place, error) {
	return nil, replica.ErrNotFound
}

func (*shown) AppendLog(context.Context, *envelope.Entry) error         { return nil }
func (*shown) Append(context.Context, *envelope.Delta) error            { return errors.ErrUnsupported }
func (*shown) Wait(context.Context, uint64) error                       { return errors.ErrUnsupported }
func (*shown) Forget(context.Context, []replica.Ref) error              { return nil }
func (*shown) DeleteBlob(context.Context, envelope.Hash, *uint64) error { return nil }
func (*shown) DropCheckpoint(context.Context, envelope.Hash) error      { return nil }
func (*shown) PutVote(context.Context, *envelope.Vote) error            { return nil }
func (*shown) Compact(context.Context, envelope.Hash) error             { return nil }

// party has the keys of a member that can read a space.
type party struct {
	id     memory.MemberID
	sign   ed25519.PrivateKey
	pair   *seal.Identity
	space  memory.SpaceID
	epochs seal.Epochs
}

func (p *party) Sign(domain string, msg []byte) ([]byte, error) {
	return envelope.KeySigner(p.sign)(domain, msg)
}

func (p *party) Epoch(n uint32) (*seal.Key, bool) {
	k, ok := p.epochs[n]
	return k, ok
}

func (p *party) Take(sealed []byte) error {
	e, err := seal.OpenEpochs(p.pair, p.space, sealed)
	maps.Copy(p.epochs, e)
	return err
}

func (*party) Wrap(uint32, *seal.Recipient) ([]byte, error) { return nil, errors.ErrUnsupported }

// replicaOf returns a replica of a party that has nothing yet, and its store.
func replicaOf(t *testing.T, p *party, at *shown) (*replica.Replica, *store.Store) {
	t.Helper()
	dir := t.TempDir()
	s, err := store.Open(store.Options{Dir: dir, Key: seal.NewKey(), Derive: reconcile.Derive, Diff: reconcile.Diff, Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	l := &journal.Journal{Space: p.space, Member: p.id, Store: s}
	r, err := replica.New(replica.Config{Space: p.space, Member: p.id, Genesis: at.log[0], Remote: at, Journal: l, Keys: p, Temp: filepath.Join(dir, "parts"),
		Now: func() time.Time { return time.Unix(1_790_000_100, 0) }, // epochs end with time
		Log: slog.New(slog.DiscardHandler), Snapshots: &replica.Snapshots{Archive: l, At: at, Behind: 1 << 30}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return r, s
}

func memories(t *testing.T, s *store.Store) map[memory.ID]told {
	t.Helper()
	out := map[memory.ID]told{}
	err := s.View(t.Context(), func(tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{}) {
			if err != nil {
				return err
			}
			if m.State != memory.Erased {
				out[m.ID] = told{m.Text, m.Sensitivity, m.Pinned, append([]string{}, m.Tags...)}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// This implementation does what other implementations are tested for: from a space whose bodies
// were dropped it takes the snapshot that counts, and it takes no memory from one that does not
// count.
func TestRestoreGolden(t *testing.T) {
	path := filepath.Join("testdata", "restore", "vectors.json")
	if *updateRestore {
		b, err := json.MarshalIndent(makeRestore(t), "", " ")
		if err == nil {
			err = os.WriteFile(path, append(b, '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var v restoreVectors
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	for _, c := range v.Cases {
		t.Run(c.Name, func(t *testing.T) { c.check(t, &v) })
	}
}

func (c *restoreCase) check(t *testing.T, v *restoreVectors) {
	at := &shown{blobs: map[envelope.Hash][]byte{}}
	for _, b := range v.Log {
		at.log = append(at.log, b)
	}
	for _, b := range v.Deltas {
		at.deltas = append(at.deltas, b)
	}
	for id, b := range v.Blobs {
		at.blobs[id] = b
	}
	for id, b := range c.Changed {
		at.blobs[id] = b
	}
	for _, id := range c.RemovedBodies {
		delete(at.blobs, id)
	}
	for _, l := range c.Checkpoints {
		item := replica.Listed{Checkpoint: l.Checkpoint}
		for _, vote := range l.Votes {
			item.Votes = append(item.Votes, vote)
		}
		at.checkpoints = append(at.checkpoints, item)
	}
	first, err := envelope.ParseEntry(at.log[0])
	if err != nil {
		t.Fatal(err)
	}
	seed, err := seal.KeyFromBytes(v.Member.Pair)
	if err != nil {
		t.Fatal(err)
	}
	me := &party{v.Member.ID, ed25519.NewKeyFromSeed(v.Member.Seed), seal.IdentityFromSeed(seed), first.Space, seal.Epochs{}}
	r, s := replicaOf(t, me, at)
	synced := r.Sync(t.Context())
	got := memories(t, s)
	status, err := r.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	problems, err := r.Problems(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c.Takes != "" {
		if synced != nil || !reflect.DeepEqual(got, v.Memories) || status.Withheld > 0 {
			t.Errorf("%v, withheld %d\n%v\nwant\n%v", synced, status.Withheld, got, v.Memories)
		}
		alone := slices.ContainsFunc(problems, func(p replica.Problem) bool { return strings.Contains(p.Reason, "alone") })
		if alone != (c.Takes == "unverified") {
			t.Errorf("on one member's word: %v; %v", alone, problems)
		}
		return
	}
	if c.Headers {
		if synced == nil && len(problems) == 0 {
			t.Errorf("nothing is said of places that the chains don't have: %v", problems)
		}
		return
	}
	for id := range got {
		if !slices.Contains(v.After, id) {
			t.Errorf("there is %s %q, of a snapshot that does not count", id, got[id].Text)
		}
	}
	if synced == nil && status.Withheld == 0 || len(problems) == 0 && c.Refused != "disputed" {
		t.Errorf("%v, withheld %d, problems %v", synced, status.Withheld, problems)
	}
}

func sealed(t *testing.T, plain []byte, key *seal.Key) []byte {
	t.Helper()
	b, err := io.ReadAll(seal.SealStream(key, seal.Pad(bytes.NewReader(plain), int64(len(plain)))))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
