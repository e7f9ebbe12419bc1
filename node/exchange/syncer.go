package exchange

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/remotes"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/replica"
)

// Syncer implements serve.Syncer, serve.Relayer and serve.Membership.
type Syncer struct{ of opened.Of[*Syncing] }

// NewSyncer makes a Syncer.
func NewSyncer(of opened.Of[*Syncing]) Syncer { return Syncer{of} }

func (sc Syncer) SyncStatus(ctx context.Context) (s serve.SyncStatus, err error) {
	sy, r, err := sc.replica()
	if errors.Is(err, serve.ErrUnsupported) {
		return serve.SyncStatus{Problems: []serve.SyncProblem{}}, nil
	}
	if errors.Is(err, remotes.ErrEnvelopes) {
		return serve.SyncStatus{Relay: sy.Primary(), Error: err.Error(), Problems: []serve.SyncProblem{}}, nil
	}
	if err != nil {
		return s, err
	}
	st, problems, err := sc.status(ctx, r)
	if err != nil {
		return s, err
	}
	primary := sy.Primary()
	s = serve.SyncStatus{Relay: primary, Apart: primary == "", LAN: sy.c.Sync.LAN, Synced: st.Synced, Pending: st.Pending, Cursor: st.Cursor, Error: st.Error, Removed: st.Removed,
		Busy: st.Busy, Took: st.Took, Sent: st.Sent,
		Problems: []serve.SyncProblem{}}
	for _, p := range problems {
		s.Problems = append(s.Problems, serve.SyncProblem{At: p.At, Member: p.Member, Cursor: p.Cursor, Op: p.Op, Reason: p.Reason, Waits: p.Waits})
	}
	return s, nil
}

// status returns the state of sync. It does not wait for a running round, which
// may take long.
func (sc Syncer) status(ctx context.Context, r *replica.Replica) (replica.Status, []replica.Problem, error) {
	s, runs := r.During()
	if !runs {
		s, err := r.Status(ctx)
		if err != nil {
			return s, nil, err
		}
		problems, err := r.Problems(ctx)
		return s, problems, err
	}
	sy, release, err := sc.of.Use()
	if err != nil {
		return s, nil, err
	}
	defer release()
	if s.Pending, err = r.Waiting(ctx); err != nil {
		return s, nil, err
	}
	problems, err := sy.journal.Problems(ctx)
	return s, problems, err
}

func (sc Syncer) SyncNow(ctx context.Context) (serve.SyncStatus, error) {
	sy, r, err := sc.replica()
	if err != nil {
		return serve.SyncStatus{}, err
	}
	if err := sy.Round(ctx, r); err != nil && ctx.Err() != nil {
		return serve.SyncStatus{}, err
	}
	return sc.SyncStatus(ctx) // the status has the error
}

func (sc Syncer) SyncFolder(ctx context.Context, dir string) (serve.FolderSynced, error) {
	if !filepath.IsAbs(dir) {
		return serve.FolderSynced{}, fmt.Errorf("%w: folder %q: want an absolute path", memory.ErrInvalid, dir)
	}
	// Checked before an envelope store is created for the folder: a mistyped name
	// must change nothing.
	if i, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return serve.FolderSynced{}, fmt.Errorf("%w: folder %s", memory.ErrNotFound, dir)
	} else if err == nil && !i.IsDir() {
		return serve.FolderSynced{}, fmt.Errorf("%w: %s is not a folder", memory.ErrInvalid, dir)
	}
	p, sy, release, err := sc.remotes()
	if err != nil {
		return serve.FolderSynced{}, err
	}
	space := sy.c.Ring.Space()
	release()
	sy, r, err := sc.replica()
	if err != nil {
		return serve.FolderSynced{}, err
	}
	out := serve.FolderSynced{Trouble: []string{}}
	if err := sy.Round(ctx, r); err != nil && ctx.Err() != nil { // this relay may be down
		return out, err
	}
	for range 2 { // the first round sends and receives; the second sends what follows from what was received
		held := r.Sync(ctx)
		if replica.Failed(held) {
			return out, held
		}
		exchanged, err := p.SyncFolder(ctx, dir, space)
		out.Took, out.Gave, out.Blobs = out.Took+exchanged.Took, out.Gave+exchanged.Gave, out.Blobs+exchanged.Blobs
		out.Trouble = serve.NonNil(exchanged.Trouble)
		if held != nil {
			out.Trouble = append(out.Trouble, held.Error())
		}
		if errors.Is(err, fs.ErrNotExist) {
			return out, fmt.Errorf("%w: folder %s", memory.ErrNotFound, dir)
		}
		if at, is := errors.AsType[*fs.PathError](err); is && strings.HasPrefix(at.Path, dir) { // the person's folder, which does not concern the node's log
			return out, fmt.Errorf("%w: folder %s: %v", memory.ErrInvalid, dir, at.Err)
		}
		if err != nil {
			return out, fmt.Errorf("folder %s: %w", dir, err)
		}
		if exchanged.Took == 0 {
			break
		}
	}
	return out, nil
}
