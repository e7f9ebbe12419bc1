package share

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/journal"
	"github.com/locket-dev/locket/sync/membership"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/upstream"
	"github.com/locket-dev/locket/sync/replica"
)

// Reader opens what others share, with a key of its own. A folder holds the key
// and, sealed with it, what was fetched. A node's home may have such a folder, but
// a reader does not need a node.
type Reader struct {
	Dir     string
	HTTP    *http.Client     // nil: the usual
	Now     func() time.Time // nil: time.Now
	Reserve uint64           // bytes of the disk that stay free; 0: the store's default
	Log     *slog.Logger     // nil: nothing is logged
}

const readerFile = "reader.key"

// Device returns the reader's key, which is made at the first call. The caller zeroes
// it.
func (r *Reader) Device() (*keyring.Device, error) {
	if err := atomicfile.MkdirAll(r.Dir); err != nil {
		return nil, fmt.Errorf("reader's key: %w", err)
	}
	return keyring.ReaderKey(filepath.Join(r.Dir, readerFile))
}

// Key returns the text to give to people who share something, and words by which both
// can compare it. If there is no key yet, it is made.
func (r *Reader) Key() (text, words string, err error) {
	d, err := r.Device()
	if err != nil {
		return "", "", err
	}
	defer d.Zero()
	m := membership.MemberOf(d, envelope.Reader)
	text, err = envelope.SignRequest(envelope.Request{Key: m.Key, Recipient: m.Recipient}, d.Sign)
	return text, Words(m.Key), err
}

// Opened is what a reader sees.
type Opened struct {
	Space    memory.SpaceID    `json:"space"`
	Relay    string            `json:"relay"`
	Fetched  time.Time         `json:"fetched,omitzero"` // when the relay last answered
	Memories []memory.Memory   `json:"memories"`
	Problems []replica.Problem `json:"problems,omitempty"` // what was quarantined
}

// Open fetches what is new of a share, and returns its content. The error is
// [ErrNotShared] if the relay does not serve the share to this key.
func (r *Reader) Open(ctx context.Context, l Link) (o Opened, err error) {
	o.Space, o.Relay = l.Space, l.Relay
	d, err := r.Device()
	if err != nil {
		return o, err
	}
	defer d.Zero()
	at, err := remote.New(l.Relay, remote.Option{HTTP: r.HTTP, Now: r.Now})
	if err != nil {
		return o, err
	}
	defer at.Close()
	key := d.Key()
	member := envelope.MemberOf(key, l.Space)
	remoteSpace := at.Space(l.Space, member, d.SignRequest)

	genesis, known, err := r.genesis(ctx, l, remoteSpace)
	if err != nil {
		return o, err
	}
	s, err := r.store(d, l.Space)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	rep, err := replica.New(replica.Config{Space: l.Space, Member: member, Genesis: genesis, Remote: upstream.New(remoteSpace, ""),
		Journal: JoinedJournal{&journal.Journal{Space: l.Space, Member: member, Store: s}},
		Keys:    &readerKeys{space: l.Space, device: d}, Temp: filepath.Join(r.folder(l.Space), "parts"), Log: r.Log, Now: r.Now})
	if err != nil {
		return o, err
	}
	defer rep.Close()
	err = rep.Sync(ctx)
	if errors.Is(err, replica.ErrForbidden) || errors.Is(err, replica.ErrNotFound) || errors.Is(err, replica.ErrRemoved) {
		if known { // what was fetched is no longer used for answers
			err = errors.Join(err, r.noteIn(ctx, s, l.Space, func(n *givenNote) { n.Ended = r.now() }))
		}
		return o, fmt.Errorf("%w: %v", ErrNotShared, err)
	}
	if err != nil {
		return o, err
	}
	if !known {
		if err := os.WriteFile(filepath.Join(r.folder(l.Space), genesisFile), genesis, 0o600); err != nil {
			return o, fmt.Errorf("open share: %w", err)
		}
	}
	err = r.noteIn(ctx, s, l.Space, func(n *givenNote) {
		if n.Link, n.Ended = l.String(), (time.Time{}); n.Opened.IsZero() {
			n.Opened = r.now()
		}
	})
	if err != nil {
		return o, err
	}
	return r.read(ctx, o, rep, s)
}

func (r *Reader) now() time.Time {
	if r.Now != nil {
		return r.Now().UTC().Truncate(time.Second)
	}
	return time.Now().UTC().Truncate(time.Second)
}

func (r *Reader) read(ctx context.Context, o Opened, rep *replica.Replica, s *store.Store) (Opened, error) {
	st, err := rep.Status(ctx)
	if err != nil {
		return o, err
	}
	o.Fetched = st.Synced
	if o.Problems, err = rep.Problems(ctx); err != nil {
		return o, err
	}
	o.Memories, err = r.active(ctx, s)
	return o, err
}

// active leaves out memories that have expired, because their owner does not want
// them to be read.
func (r *Reader) active(ctx context.Context, s *store.Store) ([]memory.Memory, error) {
	now := r.now()
	list, err := ActiveIn(ctx, s)
	return slices.DeleteFunc(list, func(m memory.Memory) bool { return !m.Expires.IsZero() && !now.Before(m.Expires) }), err
}

// ReadKept returns what was fetched of a share before, without asking anybody. If nothing
// was fetched, the error is memory.ErrNotFound.
func (r *Reader) ReadKept(ctx context.Context, l Link) (o Opened, err error) {
	o.Space, o.Relay = l.Space, l.Relay
	s, done, err := r.openFetched(l.Space)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, done()) }()
	if o.Fetched, err = fetchedOf(ctx, s, l.Space); err != nil {
		return o, err
	}
	o.Memories, err = r.active(ctx, s)
	return o, err
}

// fetchedOf returns when the relay last answered.
func fetchedOf(ctx context.Context, s *store.Store, space memory.SpaceID) (time.Time, error) {
	st, err := (&journal.Journal{Space: space, Store: s}).State(ctx)
	return st.Synced, err
}

const (
	genesisFile  = "genesis"
	sharesFolder = "shares"
)

func (r *Reader) folder(space memory.SpaceID) string {
	return filepath.Join(r.Dir, sharesFolder, space.String())
}

func (r *Reader) store(d *keyring.Device, space memory.SpaceID) (*store.Store, error) {
	key := d.StoreKey(space)
	defer key.Zero()
	return store.Open(store.Options{Dir: filepath.Join(r.folder(space), "store"), Key: key, Derive: reconcile.Derive, Diff: reconcile.Diff, Small: true, Reserve: r.Reserve})
}

// genesis returns the space's first entry: the known one, or the one that the
// relay shows and the link names.
func (r *Reader) genesis(ctx context.Context, l Link, there *remote.Space) (b []byte, known bool, err error) {
	if b, err = os.ReadFile(filepath.Join(r.folder(l.Space), genesisFile)); err == nil {
		if e, err := envelope.ParseEntry(b); err == nil && e.Hash() == l.Genesis {
			return b, true, nil
		}
		return nil, false, fmt.Errorf("open share: %w: the link names another first entry than the one that is known here", memory.ErrInvalid)
	}
	entries, err := there.Log(ctx, 0)
	if errors.Is(err, remote.ErrForbidden) || errors.Is(err, remote.ErrNotFound) {
		return nil, false, fmt.Errorf("%w: %v", ErrNotShared, err)
	}
	if err != nil {
		return nil, false, fmt.Errorf("open share: %w", err)
	}
	if len(entries) == 0 || entries[0].Hash() != l.Genesis {
		return nil, false, fmt.Errorf("open share: %w: the relay shows another space than the link names", remote.ErrAnswer)
	}
	if err := atomicfile.MkdirAll(r.folder(l.Space)); err != nil {
		return nil, false, fmt.Errorf("open share: %w", err)
	}
	return entries[0].Bytes(), false, nil
}

// JoinedJournal is the journal of a member that founds no space. If the relay does not have
// the first entry, it is not the right space.
type JoinedJournal struct{ replica.Journal }

// State implements replica.Journal.
func (f JoinedJournal) State(ctx context.Context) (replica.State, error) {
	s, err := f.Journal.State(ctx)
	s.Founded = true
	return s, err
}

// readerKeys are a reader's replica.Keys in one space. Epoch keys are only in memory,
// because the membership log has them.
type readerKeys struct {
	space  memory.SpaceID
	device *keyring.Device
	seal.HeldEpochs
}

func (k *readerKeys) Sign(domain string, msg []byte) ([]byte, error) {
	return k.device.Sign(domain, msg)
}

func (k *readerKeys) Take(sealed []byte) error {
	got, err := k.device.OpenEpochs(k.space, sealed)
	if err == nil {
		k.Add(got)
	}
	return err
}

// Wrap implements replica.Keys. The membership log allows only owners to add
// somebody.
func (k *readerKeys) Wrap(n uint32, to *seal.Recipient) ([]byte, error) {
	return seal.SealFirst(to, k.space, n, k.Epoch)
}

// KeysOf returns a reader's keys as a member of a space.
func KeysOf(d *keyring.Device, space memory.SpaceID) replica.Keys {
	return &readerKeys{space: space, device: d}
}
