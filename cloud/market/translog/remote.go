package translog

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/locket-dev/locket/sync/translog"
)

// Remote is a [Witness] over HTTP (c2sp.org/tlog-witness).
type Remote struct {
	URL      string // the part before /add-checkpoint
	HTTP     *http.Client
	Verifier note.Verifier
}

func (r *Remote) Key() note.Verifier { return r.Verifier }

func (r *Remote) AddCheckpoint(ctx context.Context, old int64, proof tlog.TreeProof, checkpoint []byte) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "old %d\n", old)
	for _, l := range translog.Lines(proof) {
		b.WriteString(l + "\n")
	}
	b.WriteByte('\n')
	b.Write(checkpoint)
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(r.URL, "/")+"/add-checkpoint", &b)
	if err != nil {
		return nil, fmt.Errorf("ask witness: %w", err)
	}
	a, err := r.HTTP.Do(q)
	if err != nil {
		return nil, fmt.Errorf("ask witness: %w", err)
	}
	defer a.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(a.Body, translog.MaxCheckpoint))
	if err != nil {
		return nil, fmt.Errorf("ask witness: %w", err)
	}
	switch a.StatusCode {
	case http.StatusOK:
		return raw, nil
	case http.StatusConflict:
		if n, err := strconv.ParseInt(strings.TrimSuffix(string(raw), "\n"), 10, 64); err == nil && n >= 0 {
			return nil, &BehindError{Size: n}
		}
	}
	return nil, fmt.Errorf("ask witness: it answers %s: %.200q", a.Status, raw)
}
