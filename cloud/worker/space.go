package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/internal/retry"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/journal"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/upstream"
	"github.com/locket-dev/locket/sync/replica"
	"github.com/locket-dev/locket/wasm/abi"
)

// space is one that the worker was let in to: its replica on this disk.
type space struct {
	dir     string
	joined  Joined
	id      *identity
	keys    *keys
	store   *store.Store
	ledger  *journal.Journal
	remote  *remote.Relay
	at      *upstream.Space
	replica *replica.Replica
	engine  *engine.Engine // over the store; it searches nothing
	poke    chan struct{}  // something is to be sent
	log     *slog.Logger

	gone  context.Context // done when the worker belongs no more
	end   context.CancelFunc
	ready atomic.Bool // it was synced since the start
	// worked is set when a job has ended, or a report has to wait for its time.
	worked atomic.Bool
	// due is when the space is to be looked at again, in ms since 1970, though
	// nothing comes; 0: never.
	due atomic.Int64
	// tell says where the jobs of the space stand, and whether there are some
	// that can be done now. nil: nothing is reported.
	tell func(context.Context) (delta.Told, bool, error)
	busy sync.RWMutex // held for reading by a job
}

// snapshotBehind is how many deltas are read before a snapshot is taken in
// their place; a worker makes none, and judges none.
const snapshotBehind = 200

func openSpace(ctx context.Context, dir string, j Joined, log *slog.Logger) (_ *space, err error) {
	s := &space{dir: dir, joined: j, poke: make(chan struct{}, 1), log: log.With("space", j.Space.String())}
	s.gone, s.end = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("space %s: %w", j.Space, err), s.close())
		}
	}()
	if s.id, err = readIdentity(dir); err != nil {
		return nil, err
	}
	s.keys = &keys{space: j.Space, id: s.id, epochs: seal.Epochs{}}
	s.store, err = store.Open(store.Options{Dir: filepath.Join(dir, "store"), Key: s.id.store, Derive: reconcile.Derive, Diff: reconcile.Diff, Log: log})
	if err != nil {
		return nil, err
	}
	if s.remote, err = remote.New(j.Relay, remote.Option{}); err != nil {
		return nil, err
	}
	clock := new(memory.Ticker)
	s.engine = engine.New(engine.Config{Space: j.Space, Member: j.Member, Store: s.store, Clock: clock, Worker: true})
	s.ledger = &journal.Journal{Space: j.Space, Member: j.Member, Store: s.store, Write: s.engine.Commit, Heard: clock.Observe}
	s.at = upstream.New(s.remote.Space(j.Space, j.Member, httpsig.KeySigner(s.id.sign)), "")
	s.replica, err = replica.New(replica.Config{Space: j.Space, Member: j.Member, Genesis: j.Genesis, Remote: s.at, Journal: reporting{s.ledger, s},
		Keys: s.keys, Temp: filepath.Join(dir, "coming"), Log: s.log,
		Snapshots: &replica.Snapshots{Archive: s.ledger, At: s.at, Behind: snapshotBehind}})
	if err != nil {
		return nil, err
	}
	return s, s.founded(ctx)
}

// founded notes that the relay has the log's first entry, which a worker could
// not append.
func (s *space) founded(ctx context.Context) error {
	st, err := s.ledger.State(ctx)
	if err != nil || st.Founded {
		return err
	}
	st.Founded = true
	return s.ledger.Save(ctx, st)
}

func (s *space) close() error {
	s.end()
	var err error
	if s.store != nil {
		err = s.store.Close()
	}
	if s.remote != nil {
		s.remote.Close()
	}
	if s.keys != nil {
		s.keys.zero()
	}
	if s.id != nil {
		s.id.zero()
	}
	return err
}

// Of the pace after failures, doubled each time; and the least between rounds.
const (
	firstWait = time.Second
	longWait  = 5 * time.Minute
)

// follow syncs until ctx is done, or the worker belongs no more: then it is
// replica.ErrRemoved. taken is called after each round.
func (s *space) follow(ctx context.Context, taken func() error) error {
	pace := retry.Backoff{First: firstWait, Most: longWait}
	for ctx.Err() == nil {
		err := s.replica.Sync(ctx)
		if errors.Is(err, replica.ErrRemoved) {
			return err
		}
		status, serr := s.replica.Status(ctx)
		if serr == nil && status.Removed {
			return replica.ErrRemoved
		}
		if err = errors.Join(err, serr); err == nil {
			s.ready.Store(true)
			err = taken()
		}
		if err != nil {
			if ctx.Err() == nil {
				s.log.Warn("sync: will be tried again", "error", err)
			}
			pace.Wait(ctx)
			continue
		}
		pace.Reset()
		s.listen(ctx, status.Cursor)
	}
	return ctx.Err()
}

// listen returns when there may be something to do.
func (s *space) listen(ctx context.Context, after uint64) {
	listening, stop := context.WithCancel(ctx)
	defer stop()
	heard := make(chan error, 1)
	go func() { heard <- s.at.Wait(listening, after) }()
	select {
	case <-s.poke:
		stop()
		<-heard
	case err := <-heard:
		if err != nil {
			wait.For(ctx, firstWait)
		}
	}
}

// grant is what the worker may do here, by the log as it stands.
func (s *space) grant(ctx context.Context) (delta.Grant, error) {
	members, err := s.replica.Members(ctx)
	if err != nil {
		return delta.Grant{}, err
	}
	i := slices.IndexFunc(members, func(m envelope.Member) bool { return m.ID == s.joined.Member })
	if i < 0 {
		return delta.Grant{}, replica.ErrRemoved
	}
	return replica.OpenGrant(&members[i], s.joined.Space, s.keys.Epoch)
}

// sources gives the memories that something can be done on, whose sound or
// pixels the node has given away.
func (s *space) sources(ctx context.Context) (out []memory.Memory, err error) {
	err = s.engine.View(ctx, func(tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{Types: []memory.Type{memory.Resource}, States: []memory.State{memory.Active}, Oldest: true}) {
			if err != nil {
				return err
			}
			if len(result.WorkOn(m)) > 0 {
				out = append(out, *m)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var given []memory.Memory
	for _, m := range out {
		name, err := memory.ParseID(m.Fields.Resource.Blob)
		if err != nil {
			continue
		}
		if _, err := s.ledger.RemoteBlob(ctx, name); err == nil {
			given = append(given, m)
		} else if !errors.Is(err, memory.ErrNotFound) {
			return nil, err
		}
	}
	return given, nil
}

// source gives one memory as it is now, nil where there is nothing to do on it
// any more.
func (s *space) source(ctx context.Context, id memory.ID) (m *memory.Memory, err error) {
	err = s.engine.View(ctx, func(tx *store.Tx) (err error) {
		m, err = tx.Memory(id)
		return err
	})
	if errors.Is(err, memory.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if len(result.WorkOn(m)) == 0 {
		return nil, nil
	}
	return m, nil
}

// maxMedia bounds a blob that is read into memory.
const maxMedia = 128 << 20

// media gives the bytes of a memory's blob, which it fetches where it must.
func (s *space) media(ctx context.Context, m *memory.Memory) ([]byte, error) {
	name, err := memory.ParseID(m.Fields.Resource.Blob)
	if err != nil {
		return nil, err
	}
	if err := s.replica.FetchBlob(ctx, name); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = s.engine.View(ctx, func(tx *store.Tx) error {
		r, err := tx.OpenBlob(name)
		if err != nil {
			return err
		}
		defer r.Close()
		if r.Size() > maxMedia {
			return fmt.Errorf("%w: a blob of %d bytes, at most %d", memory.ErrInvalid, r.Size(), maxMedia)
		}
		_, err = io.Copy(&b, r)
		return err
	})
	return b.Bytes(), err
}

// drop removes a memory's blob from this disk: it can be fetched again.
func (s *space) drop(ctx context.Context, m *memory.Memory) error {
	name, err := memory.ParseID(m.Fields.Resource.Blob)
	if err != nil {
		return err
	}
	return s.engine.Commit(ctx, func(tx *store.Tx) error { return tx.DeleteBlob(name) })
}

// before gives what was said in the half hour before a time, the latest eight.
func (s *space) before(ctx context.Context, at time.Time) ([]abi.Turn, error) {
	var us []memory.Utterance
	err := s.engine.View(ctx, func(tx *store.Tx) error {
		for u, err := range tx.Utterances(at.Add(-memory.SessionGap), at) {
			if err != nil {
				return err
			}
			us = append(us, *u)
		}
		return nil
	})
	slices.SortFunc(us, func(a, b memory.Utterance) int { return a.At.Compare(b.At) })
	if n := len(us) - abi.MaxBefore; n > 0 {
		us = us[n:]
	}
	return turnsOf(us), err
}

// proposal is a candidate, with the name that its id follows from.
type proposal struct {
	candidate memory.Candidate
	event     memory.EventID
	name      string
	reason    string
}

// proposed reports whether there is a memory of that name already. Then whoever
// made it was stopped before the job had ended, and asking again would be paid
// again, for what [space.propose] would not say a second time.
func (s *space) proposed(ctx context.Context, event memory.EventID, by, name string) (there bool, err error) {
	secret, done, err := s.idKey()
	if err != nil {
		return false, err
	}
	defer done()
	id := memory.DeriveID(secret, event, by, name)
	err = s.engine.View(ctx, func(tx *store.Tx) error {
		_, err := tx.Memory(id)
		there = err == nil
		if errors.Is(err, memory.ErrNotFound) {
			return nil
		}
		return err
	})
	return there, err
}

// propose asserts a candidate, unless it is there, with the lines that were heard
// in it, and has it sent.
func (s *space) propose(ctx context.Context, p proposal, lines []memory.Utterance) error {
	c := p.candidate
	if err := c.Validate(); err != nil {
		return err
	}
	secret, done, err := s.idKey()
	if err != nil {
		return err
	}
	defer done()
	id := memory.DeriveID(secret, p.event, c.Source.Plugin, p.name)
	err = s.engine.Commit(ctx, func(tx *store.Tx) error {
		if err := putHeard(tx, lines); err != nil {
			return err
		}
		if _, err := tx.Memory(id); err == nil {
			return nil
		} else if !errors.Is(err, memory.ErrNotFound) {
			return err
		}
		_, err := s.engine.Say(tx, memory.RankCloud, memory.Assertion{Memory: id, Act: memory.ActPropose, Candidate: &c, Source: c.Source, Reason: p.reason})
		return err
	})
	if err != nil {
		return err
	}
	s.send()
	return nil
}

// send has what is to be sent go out soon.
func (s *space) send() {
	select {
	case s.poke <- struct{}{}:
	default:
	}
}
