package transfer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/foreign"
	"github.com/locket-dev/locket/node/serve"
)

// Foreign implements serve.Exchange.
func (a Archives) Foreign(ctx context.Context, q serve.ForeignQuery, body io.Reader) (v serve.Foreign, err error) {
	// One at a time, because each may take some hundred megabytes of memory.
	select {
	case a.foreign <- struct{}{}:
		defer func() { <-a.foreign }()
	case <-ctx.Done():
		return v, context.Cause(ctx)
	}
	if q.Folder == "" { // before the node is kept open: a body that arrives slowly must not prevent locking
		b, err := io.ReadAll(body)
		if err != nil {
			return v, err
		}
		body = bytes.NewReader(b)
	}
	err = a.of.During(ctx, func(ctx context.Context, t *Transfer) error {
		v, err = t.foreign(ctx, &q, body)
		return err
	})
	return v, err
}

func (t *Transfer) foreign(ctx context.Context, q *serve.ForeignQuery, body io.Reader) (v serve.Foreign, err error) {
	o := foreign.Options{Zone: t.c.Location, Me: []string{q.Me, t.c.Wearer}, Dates: q.Dates, Bounded: true}
	from := foreign.Format(q.From)
	var res foreign.Result
	if q.Folder != "" {
		switch {
		case !filepath.IsAbs(q.Folder):
			return v, fmt.Errorf("%w: folder: %.200s: want a full path", memory.ErrInvalid, q.Folder)
		case from == "":
			return v, fmt.Errorf("%w: from: want the kind of notes that the folder has, one of %v", memory.ErrInvalid, foreign.Folders())
		}
		root, err := os.OpenRoot(q.Folder)
		if err != nil {
			return v, fmt.Errorf("%w: folder: %w", memory.ErrInvalid, err)
		}
		defer root.Close()
		if res, err = foreign.ReadFolder(ctx, from, root.FS(), o); err != nil {
			return v, err
		}
	} else {
		r := bufio.NewReaderSize(body, 4096)
		if from == "" {
			start, err := r.Peek(4096)
			if err != nil && !errors.Is(err, io.EOF) {
				return v, err
			}
			if from = foreign.Guess(q.Name, start); from == "" {
				return v, fmt.Errorf("%w: %.80s: its system is not known by its beginning: say which it is", memory.ErrInvalid, q.Name)
			}
		}
		if res, err = foreign.Read(ctx, from, q.Name, r, o); err != nil {
			return v, err
		}
	}
	v = serve.Foreign{From: string(from), Adds: res.Adds, Ends: res.Ends, Shown: make([]serve.ForeignShown, len(res.Adds))}
	for i := range res.Adds {
		v.Shown[i] = serve.ForeignShown{Text: foreign.Shown(&res.Adds[i]), Secret: res.Adds[i].Secret != ""}
	}
	if res.More > 0 { // at the beginning, because a caller may not show the whole list
		v.Skipped = append(v.Skipped, serve.ForeignSkipped{Where: q.Name, Reason: fmt.Sprintf("%d are left out in all, of which %d are named here", len(res.Skipped)+res.More, len(res.Skipped))})
	}
	for _, s := range res.Skipped {
		v.Skipped = append(v.Skipped, serve.ForeignSkipped{Where: s.Where, Reason: s.Reason})
	}
	return v, nil
}
