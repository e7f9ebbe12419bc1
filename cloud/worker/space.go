package worker

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

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

// space is a space that the worker belongs to, with its replica on this disk.
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
	engine  *engine.Engine // over the store, without search
	wake    chan struct{}  // something has to be sent
	log     *slog.Logger
	now     func() time.Time

	memberCtx context.Context // done when the worker is no longer a member
	end       context.CancelFunc
	ready     atomic.Bool // it was synced since the start
	// worked is set when a job has ended, and when a report found jobs that have
	// not: their state has to be looked at again.
	worked atomic.Bool
	// due is the time, in ms since 1970, at which the space has to be looked at
	// again even if nothing comes; 0: never.
	due atomic.Int64
	// reportContent returns the state of the space's jobs, and whether some can be done
	// now. nil: nothing is reported.
	reportContent func(context.Context) (delta.ReportContent, bool, error)
	busy          sync.RWMutex // a running job holds it for reading
}

// snapshotBehind is the number of missing deltas from which on a snapshot is
// taken instead. A worker neither makes snapshots nor votes on them.
const snapshotBehind = 200

func openSpace(ctx context.Context, dir string, j Joined, now func() time.Time, log *slog.Logger) (_ *space, err error) {
	s := &space{dir: dir, joined: j, wake: make(chan struct{}, 1), now: now, log: log.With("space", j.Space.String())}
	s.memberCtx, s.end = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("space %s: %w", j.Space, err), s.close())
		}
	}()
	if s.id, err = readIdentity(dir); err != nil {
		return nil, err
	}
	s.keys = &keys{space: j.Space, id: s.id}
	s.store, err = store.Open(store.Options{Dir: filepath.Join(dir, "store"), Key: s.id.store, Derive: reconcile.Derive, Diff: reconcile.Diff, Log: log})
	if err != nil {
		return nil, err
	}
	if s.remote, err = remote.New(j.Relay, remote.Option{}); err != nil {
		return nil, err
	}
	clock := new(memory.Ticker)
	s.engine = engine.New(engine.Config{Space: j.Space, Member: j.Member, Store: s.store, Clock: clock, Worker: true})
	s.ledger = &journal.Journal{Space: j.Space, Member: j.Member, Store: s.store, Write: s.engine.Commit, OnClock: clock.Observe}
	s.at = upstream.New(s.remote.Space(j.Space, j.Member, httpsig.KeySigner(s.id.sign)), "")
	s.replica, err = replica.New(replica.Config{Space: j.Space, Member: j.Member, Genesis: j.Genesis, Remote: s.at, Journal: reporting{s.ledger, s},
		Keys: s.keys, Temp: filepath.Join(dir, "coming"), Log: s.log,
		Snapshots: &replica.Snapshots{Archive: s.ledger, At: s.at, Behind: snapshotBehind}})
	if err != nil {
		return nil, err
	}
	return s, s.markFounded(ctx)
}

// markFounded records that the relay has the log's first entry, because a worker
// could not append it.
func (s *space) markFounded(ctx context.Context) error {
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
		s.keys.Zero()
	}
	if s.id != nil {
		s.id.zero()
	}
	return err
}

// The delays after failures, doubled each time, and the least time between
// rounds.
const (
	firstWait = time.Second
	longWait  = 5 * time.Minute
)

// follow syncs until ctx is done. It returns replica.ErrRemoved when the worker
// is no longer a member. taken is called after each round.
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
	case <-s.wake:
		stop()
		<-heard
	case err := <-heard:
		if err != nil {
			wait.For(ctx, firstWait)
		}
	}
}

// grant returns what the worker may do here, according to the present log.
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

// grantFor is grant, or errNotGranted where it has no memories of a type.
func (s *space) grantFor(ctx context.Context, t memory.Type) (delta.Grant, error) {
	g, err := s.grant(ctx)
	if err == nil && !slices.Contains(g.Types, t) {
		err = fmt.Errorf("%w: it has no %s memories", errNotGranted, t)
	}
	return g, err
}

// memories is [store.Tx.Memories] without those that have expired. The wearer's devices
// show these to nobody, and erase them when their retention runs.
func (s *space) memories(tx *store.Tx, f store.Filter) iter.Seq2[*memory.Memory, error] {
	now := s.now()
	return func(yield func(*memory.Memory, error) bool) {
		for m, err := range tx.Memories(f) {
			if err == nil && m.Expired(now) {
				continue
			}
			if !yield(m, err) {
				return
			}
		}
	}
}

// sources returns the memories with sound or pixels on which something can be
// done.
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

// source returns the present state of a memory, or nil if there is nothing to
// do on it any more.
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

// linesBefore returns what was said in the half hour before a time, at most the last
// eight lines.
func (s *space) linesBefore(ctx context.Context, at time.Time) ([]abi.Turn, error) {
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

// proposal is a candidate with the name from which its id is derived.
type proposal struct {
	candidate memory.Candidate
	event     memory.EventID
	name      string
	reason    string
}

// isProposed reports whether a memory of that name exists. If so, an earlier run
// of the job was interrupted after it had proposed, and asking the engine again
// would cost a second time for nothing.
func (s *space) isProposed(ctx context.Context, event memory.EventID, by, name string) (there bool, err error) {
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

// propose asserts a candidate, unless it exists, together with the lines that
// were heard in it.
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
		_, err := s.engine.AssertTx(tx, memory.RankCloud, memory.Assertion{Memory: id, Act: memory.ActPropose, Candidate: &c, Source: c.Source, Reason: p.reason})
		return err
	})
	if err != nil {
		return err
	}
	s.notify()
	return nil
}

// notify makes the replica send soon.
func (s *space) notify() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
