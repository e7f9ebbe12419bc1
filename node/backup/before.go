package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/archive"
)

var (
	// ErrOtherHome: the backup is of a different home than the export.
	ErrOtherHome = errors.New("the backup there is kept: it is of another home")
	// ErrNothing: the export has no records, and the backup has some.
	ErrNothing = errors.New("the backup there is kept: this home has nothing in it")
	// ErrVault: the backup has the values of the vault, and the export does not.
	ErrVault = errors.New("the backup there is kept: it has the vault's values, and a new one would not")
)

// WriteOptions say where a backup is prepared, and what it may replace.
type WriteOptions struct {
	Spool string // local folder for sealed pieces until the export was read; empty: the system's

	OtherHome bool // it may replace a backup of another home, or one that has records if the export has none
	Vault     bool // it may replace a backup that has the values of the vault by one without them
}

// before describes the backup that a new one would replace.
type before struct {
	none    bool // no export was completed
	unknown bool // it is damaged, so nothing else is known
	space   memory.SpaceID
	secrets bool
	records int
	pieces  []string
}

func (f *Folder) before(ctx context.Context) (b before, err error) {
	ix, err := f.Index(ctx)
	switch {
	case errors.Is(err, ErrNone):
		return before{none: true}, nil
	case errors.Is(err, ErrDamaged):
		return before{unknown: true}, nil
	case err != nil:
		return b, err
	}
	b = before{space: ix.Space, secrets: ix.Secrets, records: ix.Records, pieces: ix.Pieces}
	if !b.space.IsZero() || len(ix.Pieces) == 0 {
		return b, nil
	}
	// An index that an older version wrote has no space. The first piece is the header.
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPiece))
	if err != nil {
		return b, err
	}
	defer dec.Close()
	records, err := f.piece(ctx, dec, ix.Pieces[0])
	if err != nil && !errors.Is(err, ErrDamaged) {
		return b, err
	}
	var h archive.Header
	if err != nil || len(records) == 0 || json.Unmarshal(records[0].Data, &h) != nil {
		return before{unknown: true}, nil
	}
	b.space, b.secrets = h.Space, h.Secrets
	return b, nil
}

// begins reports whether an export with this header may replace the backup.
func (b *before) begins(h *archive.Header, opt *WriteOptions) error {
	switch {
	case b.none || b.unknown:
		return nil
	case b.space != h.Space && !opt.OtherHome:
		return fmt.Errorf("%w, %s", ErrOtherHome, b.space)
	case b.secrets && !h.Secrets && !opt.Vault:
		return ErrVault
	}
	return nil
}

// ends reports whether an export that was read may replace the backup. same is how many
// of its pieces are there already. A damaged backup of which all pieces differ may be of
// another home.
func (b *before) ends(records, same, there int, opt *WriteOptions) error {
	switch {
	case opt.OtherHome || b.none:
		return nil
	case b.unknown && there > 0 && same == 0:
		return fmt.Errorf("%w, or damaged: none of its pieces belongs to this home", ErrOtherHome)
	case records == 0 && b.records > 0:
		return fmt.Errorf("%w, and the backup has %d records", ErrNothing, b.records)
	}
	return nil
}
