// Package translog keeps the transparency log of a market in the market's database, and serves it
// as described in c2sp.org/tlog-tiles. Package sync/translog has the formats and the reader's side.
//
// An entry is appended in the transaction that it reports, so that neither exists without the
// other. [Log.Publish] signs the current log, has witnesses cosign it, and serves that state from
// then on.
package translog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/locket-dev/locket/cloud/market/tables"
	"github.com/locket-dev/locket/sync/translog"
)

// Errors that callers can tell apart.
var (
	ErrNone = errors.New("the log does not have this")
	ErrKept = errors.New("the log is not the one that was published")
)

// Log is the log of one market. It is safe for concurrent use, and several
// processes may append to one database.
type Log struct {
	db        *tables.DB
	signer    note.Signer
	key       note.Verifier
	witnesses []Witness
	now       func() time.Time
}

// New makes the log in a database, signed by a [translog.LogSigner], whose name is the log's
// origin.
func New(db *tables.DB, signer note.Signer, witnesses ...Witness) (*Log, error) {
	key, err := translog.Key(translog.VerifierKey(signer))
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	return &Log{db, signer, key, witnesses, time.Now}, nil
}

// Append adds an entry and returns its index, from 0. An entry with the same kind, subject and
// digest is stored once: its index is returned again. Other appends wait until the transaction
// ends.
func (l *Log) Append(ctx context.Context, tx *sql.Tx, e translog.Entry) (int64, error) {
	fail := func(err error) (int64, error) { return 0, fmt.Errorf("append to log: %w", err) }
	raw, err := e.Encode()
	if err != nil {
		return fail(err)
	}
	var n int64
	if err := tx.QueryRowContext(ctx, `SELECT n FROM log_size`+l.db.Dialect.Lock()).Scan(&n); err != nil {
		return fail(err)
	}
	var have int64
	err = tx.QueryRowContext(ctx, `SELECT n FROM log_entries WHERE subject = $1 AND kind = $2 AND digest = $3`, e.Subject, e.Kind, e.Digest[:]).Scan(&have)
	if !errors.Is(err, sql.ErrNoRows) {
		if err != nil {
			return fail(err)
		}
		return have, nil
	}
	hashes, err := tlog.StoredHashes(n, raw, reader{ctx, tx})
	if err != nil {
		return fail(err)
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO log_entries (n, kind, subject, digest, entry) VALUES ($1, $2, $3, $4, $5)`, n, e.Kind, e.Subject, e.Digest[:], raw); err != nil {
		return fail(err)
	}
	first := tlog.StoredHashIndex(0, n)
	for i, h := range hashes {
		if _, err := tx.ExecContext(ctx, `INSERT INTO log_hashes (n, hash) VALUES ($1, $2)`, first+int64(i), h[:]); err != nil {
			return fail(err)
		}
	}
	if _, err := tx.ExecContext(ctx, `UPDATE log_size SET n = $1`, n+1); err != nil {
		return fail(err)
	}
	return n, nil
}

// reader reads hashes of the tree in a transaction.
type reader struct {
	ctx context.Context // the methods of tlog.HashReader take none
	tx  *sql.Tx
}

// ReadHashes implements [tlog.HashReader].
func (r reader) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	if len(indexes) == 0 {
		return nil, nil
	}
	in, args := make([]string, len(indexes)), make([]any, len(indexes)) // as parameters, so that the driver prepares few statements
	for i, n := range indexes {
		in[i], args[i] = fmt.Sprintf("$%d", i+1), n
	}
	type row struct {
		n    int64
		hash []byte
	}
	rows, err := tables.Collect(r.ctx, r.tx, func(v *row) []any { return []any{&v.n, &v.hash} },
		`SELECT n, hash FROM log_hashes WHERE n IN (`+strings.Join(in, ",")+`)`, args...)
	if err != nil {
		return nil, err
	}
	found := make(map[int64]tlog.Hash, len(indexes))
	for _, v := range rows {
		found[v.n] = tlog.Hash(v.hash)
	}
	all := make([]tlog.Hash, len(indexes))
	for i, n := range indexes {
		h, ok := found[n]
		if !ok {
			return nil, fmt.Errorf("%w: hash %d", ErrNone, n)
		}
		all[i] = h
	}
	return all, nil
}

// Publish signs the current log and has the witnesses cosign it. If a witness fails, the error
// names it, and the checkpoint is published without it. If nothing was appended since, it asks the
// missing witnesses again.
func (l *Log) Publish(ctx context.Context) (*translog.Signed, error) {
	last, err := l.published(ctx)
	if err != nil && !errors.Is(err, ErrNone) {
		return nil, fmt.Errorf("publish log: %w", err)
	}
	var size int64
	var root tlog.Hash
	err = l.db.Read(ctx, func(tx *sql.Tx) error {
		if err := tx.QueryRowContext(ctx, `SELECT n FROM log_size`).Scan(&size); err != nil {
			return err
		}
		var err error
		if root, err = tlog.TreeHash(size, reader{ctx, tx}); err != nil || last == nil {
			return err
		}
		// A log in changed tables must not be signed: that would be a second history.
		if was, err := prefix(ctx, tx, last.Size, size); err != nil || was != last.Root {
			return errors.Join(err, fmt.Errorf("%w: %d of its %d entries were published with another hash", ErrKept, last.Size, size))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("publish log: %w", err)
	}
	var msg []byte
	if last != nil && last.Size == size {
		if len(last.Cosigned) == len(l.witnesses) {
			return last, nil
		}
		msg = last.Note
	} else if msg, err = translog.Sign(translog.Checkpoint{Origin: l.signer.Name(), Size: size, Root: root}, l.signer); err != nil {
		return nil, fmt.Errorf("publish log: %w", err)
	}
	msg, failed := l.cosign(ctx, msg, size)
	err = l.db.Change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO log_checkpoints (size, note, at) VALUES ($1, $2, $3) ON CONFLICT (size) DO UPDATE SET note = $2`,
			size, string(msg), l.now().UnixMilli())
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("publish log: %w", err)
	}
	s, err := translog.Open(msg, l.key, l.keys()...)
	if err != nil {
		return nil, fmt.Errorf("publish log: %w", err)
	}
	return s, failed
}

func prefix(ctx context.Context, tx *sql.Tx, n, size int64) (tlog.Hash, error) {
	if n > size {
		return tlog.Hash{}, nil
	}
	return tlog.TreeHash(n, reader{ctx, tx})
}

// published returns the last checkpoint.
func (l *Log) published(ctx context.Context) (*translog.Signed, error) {
	var text string
	err := l.db.Read(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT note FROM log_checkpoints ORDER BY size DESC LIMIT 1`).Scan(&text)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("%w: nothing was published", ErrNone)
	}
	if err != nil {
		return nil, err
	}
	return translog.Open([]byte(text), l.key, l.keys()...)
}

// Checkpoint returns the checkpoint that was published last. If there is none, it publishes
// the first.
func (l *Log) Checkpoint(ctx context.Context) (*translog.Signed, error) {
	s, err := l.published(ctx)
	if errors.Is(err, ErrNone) {
		if s, err = l.Publish(ctx); s != nil {
			err = nil // a failing witness does not keep anybody from reading
		}
	}
	return s, err
}

// Tile implements [translog.Source]: it returns hashes of the log, which the receiver checks.
func (l *Log) Tile(ctx context.Context, t tlog.Tile) ([]byte, error) {
	if t.H != translog.TileHeight || t.L < 0 || t.W < 1 || t.W > 1<<t.H || t.L > 7 || t.N < 0 {
		return nil, fmt.Errorf("read tile: %w: %s", ErrNone, t.Path())
	}
	size, err := l.published(ctx)
	if err != nil {
		return nil, fmt.Errorf("read tile: %w", err)
	}
	if have := size.Size >> (t.L * t.H); t.N<<t.H+int64(t.W) > have { // what is not signed must not be read
		return nil, fmt.Errorf("read tile: %w: %s", ErrNone, t.Path())
	}
	var data []byte
	err = l.db.Read(ctx, func(tx *sql.Tx) (err error) {
		data, err = tlog.ReadTileData(t, reader{ctx, tx})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read tile: %w", err)
	}
	return data, nil
}

// MaxEntries is how many entries one call returns: those of a tile.
const MaxEntries = 1 << translog.TileHeight

// Entries returns the bytes of up to count published entries, beginning with index from.
func (l *Log) Entries(ctx context.Context, from int64, count int) ([][]byte, error) {
	s, err := l.published(ctx)
	if err != nil {
		return nil, fmt.Errorf("read entries: %w", err)
	}
	var all [][]byte
	err = l.db.Read(ctx, func(tx *sql.Tx) (err error) {
		all, err = tables.Column[[]byte](ctx, tx, `SELECT entry FROM log_entries WHERE n >= $1 AND n < $2 ORDER BY n LIMIT $3`, from, s.Size, min(count, MaxEntries))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read entries: %w", err)
	}
	return all, nil
}

// inclusion proves that an entry is in the log. A reader's [translog.Inclusion.Check] only needs
// the log's key.
func (l *Log) inclusion(ctx context.Context, n int64) (*translog.Inclusion, error) {
	s, err := l.published(ctx)
	if err != nil {
		return nil, fmt.Errorf("prove entry %d: %w", n, err)
	}
	if n < 0 || n >= s.Size {
		return nil, fmt.Errorf("prove entry %d: %w: %d were published", n, ErrNone, s.Size)
	}
	p := &translog.Inclusion{Index: n, Checkpoint: string(s.Note)}
	err = l.db.Read(ctx, func(tx *sql.Tx) (err error) {
		if err = tx.QueryRowContext(ctx, `SELECT entry FROM log_entries WHERE n = $1`, n).Scan(&p.Entry); err == nil {
			p.Proof, err = tlog.ProveRecord(s.Size, n, reader{ctx, tx})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("prove entry %d: %w", n, err)
	}
	return p, nil
}

// Prove returns proofs that entries of these kinds and subjects are in the published log, in the
// caller's transaction, and the signed checkpoint. The proof of a missing entry is nil; if several
// match, the first one counts.
func (l *Log) Prove(ctx context.Context, tx *sql.Tx, of []translog.Entry) ([]*translog.Inclusion, []byte, error) {
	var text string
	err := tx.QueryRowContext(ctx, `SELECT note FROM log_checkpoints ORDER BY size DESC LIMIT 1`).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return make([]*translog.Inclusion, len(of)), nil, nil
	}
	var s *translog.Signed
	if err == nil {
		s, err = translog.Open([]byte(text), l.key)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("prove entries: %w", err)
	}
	all := make([]*translog.Inclusion, len(of))
	for i, e := range of {
		p := &translog.Inclusion{}
		err := tx.QueryRowContext(ctx, `SELECT n, entry FROM log_entries WHERE subject = $1 AND kind = $2 AND n < $3 ORDER BY n LIMIT 1`, e.Subject, e.Kind, s.Size).Scan(&p.Index, &p.Entry)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err == nil {
			p.Proof, err = tlog.ProveRecord(s.Size, p.Index, reader{ctx, tx})
		}
		if err != nil {
			return nil, nil, fmt.Errorf("prove entries: %w", err)
		}
		all[i] = p
	}
	return all, []byte(text), nil
}

// Find returns the indexes of a subject's entries, in order, [MaxEntries] at most after the first
// skip.
func (l *Log) Find(ctx context.Context, subject string, skip uint32) ([]int64, error) {
	var all []int64
	err := l.db.Read(ctx, func(tx *sql.Tx) (err error) {
		all, err = tables.Column[int64](ctx, tx, `SELECT n FROM log_entries WHERE subject = $1 ORDER BY n LIMIT $2 OFFSET $3`, subject, MaxEntries, skip)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find in log: %w", err)
	}
	return all, nil
}

// Consistency proves that the published log begins with the first n entries.
func (l *Log) Consistency(ctx context.Context, n int64) (tlog.TreeProof, *translog.Signed, error) {
	s, err := l.published(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("prove consistency: %w", err)
	}
	p, err := l.consistency(ctx, n, s.Size)
	return p, s, err
}

func (l *Log) consistency(ctx context.Context, n, size int64) (p tlog.TreeProof, err error) {
	if n < 0 || n > size {
		return nil, fmt.Errorf("prove consistency: %w: %d entries of %d", ErrNone, n, size)
	}
	if n == 0 || n == size {
		return nil, nil
	}
	err = l.db.Read(ctx, func(tx *sql.Tx) (err error) {
		p, err = tlog.ProveTree(size, n, reader{ctx, tx})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("prove consistency: %w", err)
	}
	return p, nil
}
