package backup

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"

	"github.com/klauspost/compress/zstd"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/node/archive"
)

// Index reads the index of the newest export, or its copy if the index is damaged or missing.
// Errors: ErrNone, ErrDamaged; they are of the index.
func (f *Folder) Index(ctx context.Context) (Index, error) {
	ix, err := f.readIndex(ctx, indexName)
	if errors.Is(err, ErrDamaged) || errors.Is(err, ErrNone) {
		if copied, copyErr := f.readIndex(ctx, copyName); copyErr == nil {
			return copied, nil
		}
	}
	return ix, err
}

// CheckIndex reads both the index and its copy. The error is ErrDamaged if one of them is, or if
// the index is missing while there is a copy.
func (f *Folder) CheckIndex(ctx context.Context) error {
	_, err := f.readIndex(ctx, indexName)
	_, copyErr := f.readIndex(ctx, copyName)
	switch {
	case errors.Is(err, ErrNone) && copyErr == nil:
		return fmt.Errorf("%w: %s is missing", ErrDamaged, indexName)
	case errors.Is(copyErr, ErrNone): // version 0.1.0 wrote it
		return err
	}
	return errors.Join(err, copyErr)
}

func (f *Folder) readIndex(ctx context.Context, name string) (ix Index, err error) {
	b, err := f.at.Read(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return ix, fmt.Errorf("%w: the first one was not finished", ErrNone)
	}
	if err != nil {
		return ix, err
	}
	rest, ok := bytes.CutPrefix(b, []byte(magic))
	if !ok || len(rest) < saltSize || len(rest) > maxIndex {
		return ix, fmt.Errorf("%w: %s: it begins with something else", ErrDamaged, name)
	}
	key := f.key.Derive("index " + hex.EncodeToString(rest[:saltSize]))
	defer key.Zero()
	plain, err := io.ReadAll(seal.OpenStream(key, bytes.NewReader(rest[saltSize:])))
	if err == nil {
		err = json.Unmarshal(plain, &ix)
	}
	if err != nil {
		return ix, fmt.Errorf("%w: %s: %w", ErrDamaged, name, err)
	}
	for _, id := range ix.Pieces {
		if !isID.MatchString(id) {
			return ix, fmt.Errorf("%w: %s: %q is not a piece", ErrDamaged, name, id)
		}
	}
	return ix, nil
}

// Records returns the newest export. If a file is damaged, the error wraps
// ErrDamaged and names the file. The records before an error are correct, but it is
// not known whether the export is complete: archive.Check checks that.
func (f *Folder) Records(ctx context.Context) iter.Seq2[archive.Record, error] {
	return func(yield func(archive.Record, error) bool) {
		ix, err := f.Index(ctx)
		if err != nil {
			yield(archive.Record{}, err)
			return
		}
		err = f.each(ctx, &ix, func(id string, records []archive.Record, err error) error {
			for _, r := range records {
				if !yield(r, nil) {
					return errEnough
				}
			}
			if err != nil {
				return fmt.Errorf("%s: %w", place(id), err)
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(archive.Record{}, err)
		}
	}
}

// errEnough: whoever reads wants no more records.
var errEnough = errors.New("enough")

// each calls fn with the records of each piece of an export in turn, and with the error of reading
// it. It ends with the first error of fn.
func (f *Folder) each(ctx context.Context, ix *Index, fn func(id string, records []archive.Record, err error) error) error {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPiece))
	if err != nil {
		return err
	}
	defer dec.Close()
	for _, id := range ix.Pieces {
		records, err := f.piece(ctx, dec, id)
		if err := fn(id, records, err); err != nil {
			return err
		}
	}
	return nil
}

// Readable returns the records of the newest export whose pieces can be read, as an archive without
// a signature, because a signature is of all records. When the sequence has ended, damaged names
// the other pieces. If the first piece is among them, the archive's header lacks the wearer.
func (f *Folder) Readable(ctx context.Context, damaged *[]string) iter.Seq2[archive.Record, error] {
	return func(yield func(archive.Record, error) bool) {
		*damaged = nil
		ix, err := f.Index(ctx)
		if err != nil {
			yield(archive.Record{}, err)
			return
		}
		n := 0
		began := false
		give := func(kind string, v any) error {
			b, err := json.Marshal(v)
			if err == nil && !yield(archive.Record{Kind: kind, Data: b}, nil) {
				err = errEnough
			}
			return err
		}
		begin := func() error {
			if began {
				return nil
			}
			began = true
			return give(archive.KindHeader, archive.Header{Version: archive.Version, Space: ix.Space, At: ix.At, Secrets: ix.Secrets})
		}
		err = f.each(ctx, &ix, func(id string, records []archive.Record, err error) error {
			switch {
			case errors.Is(err, ErrDamaged):
				*damaged = append(*damaged, place(id))
				return nil
			case err != nil:
				return fmt.Errorf("%s: %w", place(id), err)
			}
			for _, r := range records {
				switch r.Kind {
				case archive.KindEnd, archive.KindSignature:
					continue
				case archive.KindHeader:
					began = true
				default:
					if err := begin(); err != nil {
						return err
					}
					n++
				}
				if !yield(r, nil) {
					return errEnough
				}
			}
			return nil
		})
		if err == nil {
			err = begin()
		}
		if err == nil {
			err = give(archive.KindEnd, archive.End{Records: n})
		}
		if err != nil && !errors.Is(err, errEnough) {
			yield(archive.Record{}, err)
		}
	}
}

// piece returns the records of a piece. The error is ErrDamaged unless the place
// could not be reached.
func (f *Folder) piece(ctx context.Context, dec *zstd.Decoder, id string) (records []archive.Record, err error) {
	sealed, err := f.at.Read(ctx, place(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if err != nil {
		return nil, err
	}
	key := f.key.Derive("piece " + id)
	defer key.Zero()
	frame, err := io.ReadAll(io.LimitReader(seal.OpenStream(key, bytes.NewReader(sealed)), maxPiece))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	lines, err := dec.DecodeAll(frame, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	for d := json.NewDecoder(bytes.NewReader(lines)); d.More(); {
		var r archive.Record
		if err := d.Decode(&r); err != nil {
			return records, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		records = append(records, r)
	}
	return records, nil
}
