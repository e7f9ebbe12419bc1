// Package witness cosigns the checkpoints of other operators' logs, each only if it continues the
// one before. A log with two histories can then show only one of them with the witness's signature.
//
// It speaks c2sp.org/tlog-witness: POST /add-checkpoint with
//
//	old SIZE LF
//	hash of the consistency proof, base64 LF …
//	LF
//	the signed checkpoint
//
// and answers 200 with the line of its cosignature, 409 with the size that it has seen, 403 if no
// known key signed, 404 for a log that it does not watch, and 422 if the proof is wrong.
package witness

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/locket-dev/locket/cloud/market/tables"
	log "github.com/locket-dev/locket/cloud/market/translog"
	"github.com/locket-dev/locket/sync/translog"
)

// Errors that callers can tell apart.
var (
	ErrUnknown = errors.New("this witness does not watch the log")
	ErrRequest = errors.New("this is not a request to a witness")
)

// maxRequest is the size of a checkpoint, and a proof of up to 63 hashes.
const maxRequest = translog.MaxCheckpoint + 64*64

// Witness watches the configured logs. It is safe for concurrent use.
type Witness struct {
	db     *tables.DB
	signer note.Signer
	key    note.Verifier
	logs   map[string]note.Verifier // by origin
	now    func() time.Time
}

// New makes a witness that signs with a [translog.Cosigner] and watches logs, which it knows by
// their keys.
func New(db *tables.DB, signer note.Signer, logs ...note.Verifier) (*Witness, error) {
	key, err := translog.Key(translog.VerifierKey(signer))
	if err != nil {
		return nil, fmt.Errorf("open witness: %w", err)
	}
	w := &Witness{db, signer, key, map[string]note.Verifier{}, time.Now}
	for _, l := range logs {
		w.logs[l.Name()] = l
	}
	return w, nil
}

// Key returns the key with which it cosigns.
func (w *Witness) Key() note.Verifier { return w.key }

// AddCheckpoint implements [log.Witness]. It stores a checkpoint before it signs it. If a log shows
// another history of the same length, both are kept as evidence.
func (w *Witness) AddCheckpoint(ctx context.Context, old int64, proof tlog.TreeProof, checkpoint []byte) ([]byte, error) {
	origin, _, _ := strings.Cut(string(checkpoint), "\n")
	key, ok := w.logs[origin]
	if !ok {
		return nil, fmt.Errorf("%w: %.200q", ErrUnknown, origin)
	}
	next, err := translog.Open(checkpoint, key)
	if err != nil {
		return nil, err
	}
	if old > next.Size {
		return nil, fmt.Errorf("%w: %d entries before, and %d now", ErrRequest, old, next.Size)
	}
	var refused error
	err = w.db.Change(ctx, func(tx *sql.Tx) error {
		last, err := w.last(ctx, tx, key)
		if err != nil {
			return err
		}
		if last.Size != old {
			refused = &log.BehindError{Size: last.Size}
			return nil
		}
		if err := translog.Consistent(last.Checkpoint, next.Checkpoint, proof); err != nil {
			refused = err
			return w.storeFork(ctx, tx, last, next)
		}
		_, err = tx.ExecContext(ctx, `UPDATE witness_logs SET size = $2, note = $3 WHERE origin = $1`, origin, next.Size, string(next.Own))
		return err
	})
	if err := errors.Join(refused, err); err != nil {
		return nil, err
	}
	text, _, _ := bytes.Cut(checkpoint, []byte("\n\n"))
	signed, err := note.Sign(&note.Note{Text: string(text) + "\n"}, w.signer)
	if err != nil {
		return nil, err
	}
	return signed[len(text)+2:], nil
}

// last returns what was last seen of a log, and locks it until tx ends.
func (w *Witness) last(ctx context.Context, tx *sql.Tx, key note.Verifier) (*translog.Signed, error) {
	if _, err := tx.ExecContext(ctx, `INSERT INTO witness_logs (origin, size, note) VALUES ($1, 0, '') ON CONFLICT (origin) DO NOTHING`, key.Name()); err != nil {
		return nil, err
	}
	var text string
	if err := tx.QueryRowContext(ctx, `SELECT note FROM witness_logs WHERE origin = $1`+w.db.Dialect.Lock(), key.Name()).Scan(&text); err != nil {
		return nil, err
	}
	if text == "" {
		return &translog.Signed{Checkpoint: translog.Checkpoint{Origin: key.Name()}}, nil
	}
	return translog.Open([]byte(text), key)
}

// storeFork stores two different checkpoints of one length, both signed by the operator. One such pair
// for each log is evidence enough; otherwise anybody who has seen it could fill the disk. tx holds
// the log's row, so that two calls don't both find none.
func (w *Witness) storeFork(ctx context.Context, tx *sql.Tx, last, next *translog.Signed) error {
	if last.Size != next.Size || last.Size == 0 || last.Root == next.Root {
		return nil
	}
	raw, err := json.Marshal(&translog.Fork{Origin: last.Origin, Small: last.Own, Large: next.Own, Prefix: next.Root})
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO witness_forks (origin, evidence, at) SELECT $1, $2, $3 WHERE NOT EXISTS (SELECT 1 FROM witness_forks WHERE origin = $1)`,
		last.Origin, string(raw), w.now().UnixMilli())
	return err
}

// fork returns the evidence against a log; nil: there is none.
func (w *Witness) fork(ctx context.Context, origin string) (*translog.Fork, error) {
	var raw string
	err := w.db.Read(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT evidence FROM witness_forks WHERE origin = $1 ORDER BY id LIMIT 1`, origin).Scan(&raw)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	f := &translog.Fork{}
	if err == nil {
		err = json.Unmarshal([]byte(raw), f)
	}
	if err != nil {
		return nil, fmt.Errorf("read evidence: %w", err)
	}
	return f, nil
}

// seen returns the last checkpoint of a log that it cosigned, with the log's signature.
func (w *Witness) seen(ctx context.Context, origin string) ([]byte, error) {
	var text string
	err := w.db.Read(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT note FROM witness_logs WHERE origin = $1`, origin).Scan(&text)
	})
	if errors.Is(err, sql.ErrNoRows) || err == nil && text == "" {
		return nil, fmt.Errorf("%w: %.200q", ErrUnknown, origin)
	}
	return []byte(text), err
}

// Handler serves POST /add-checkpoint, GET /seen?origin=NAME with the last cosigned checkpoint of a
// log, which only has the log's signature, and GET /forks?origin=NAME with the evidence against it.
func (w *Witness) Handler() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("POST /add-checkpoint", func(a http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(a, r.Body, maxRequest))
		if err != nil {
			http.Error(a, "the request is too long", http.StatusBadRequest)
			return
		}
		old, proof, checkpoint, err := parse(body)
		var line []byte
		if err == nil {
			line, err = w.AddCheckpoint(r.Context(), old, proof, checkpoint)
		}
		behind, is := errors.AsType[*log.BehindError](err)
		switch {
		case err == nil:
			_, _ = a.Write(line)
		case is:
			a.Header().Set("Content-Type", "text/x.tlog.size")
			a.WriteHeader(http.StatusConflict)
			fmt.Fprintf(a, "%d\n", behind.Size)
		case errors.Is(err, ErrRequest):
			http.Error(a, err.Error(), http.StatusBadRequest)
		case errors.Is(err, ErrUnknown):
			http.Error(a, err.Error(), http.StatusNotFound)
		case errors.Is(err, translog.ErrCheckpoint):
			http.Error(a, err.Error(), http.StatusForbidden)
		case errors.Is(err, translog.ErrProof):
			http.Error(a, err.Error(), http.StatusUnprocessableEntity)
		default:
			http.Error(a, "the witness can't answer", http.StatusInternalServerError)
		}
	})
	m.HandleFunc("GET /seen", func(a http.ResponseWriter, r *http.Request) {
		note, err := w.seen(r.Context(), r.URL.Query().Get("origin"))
		switch {
		case errors.Is(err, ErrUnknown):
			http.Error(a, err.Error(), http.StatusNotFound)
		case err != nil:
			http.Error(a, "the witness can't answer", http.StatusInternalServerError)
		default:
			a.Header().Set("Content-Type", "text/plain; charset=utf-8")
			_, _ = a.Write(note)
		}
	})
	m.HandleFunc("GET /forks", func(a http.ResponseWriter, r *http.Request) {
		origin := r.URL.Query().Get("origin")
		if origin == "" {
			http.Error(a, "want ?origin=NAME, of a log", http.StatusBadRequest)
			return
		}
		f, err := w.fork(r.Context(), origin)
		all := []*translog.Fork{}
		if f != nil {
			all = append(all, f)
		}
		raw, failed := json.Marshal(map[string]any{"forks": all})
		if errors.Join(err, failed) != nil {
			http.Error(a, "the witness can't answer", http.StatusInternalServerError)
			return
		}
		a.Header().Set("Content-Type", "application/json")
		_, _ = a.Write(raw)
	})
	return m
}

func parse(body []byte) (old int64, proof tlog.TreeProof, checkpoint []byte, err error) {
	head, checkpoint, ok := bytes.Cut(body, []byte("\n\n"))
	lines := strings.Split(string(head), "\n")
	size, is := strings.CutPrefix(lines[0], "old ")
	old, err = strconv.ParseInt(size, 10, 64)
	if !ok || !is || err != nil || old < 0 || size != strconv.FormatInt(old, 10) {
		return 0, nil, nil, fmt.Errorf("%w: want a line \"old SIZE\", lines of hashes, an empty line, and a checkpoint", ErrRequest)
	}
	if proof, err = translog.Hashes(lines[1:]); err != nil {
		return 0, nil, nil, fmt.Errorf("%w: %v", ErrRequest, err)
	}
	return old, proof, checkpoint, nil
}
