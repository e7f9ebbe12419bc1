package repair

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/membership"
)

// Names in a home.
const (
	envelopesDir = "shelf"
	relaysName   = "relays.json" // the only file of the envelope store that no remote has
)

// checkEnvelopes reports what is damaged in the envelope store.
func (v *visit) checkEnvelopes(ctx context.Context) ([]error, error) {
	if v.Envelopes == nil {
		return nil, nil
	}
	if _, err := os.Stat(filepath.Join(v.Dir, envelopesDir)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	genesis, err := membership.Genesis(v.ring.Locked)
	if err != nil {
		return nil, nil // there is no space yet
	}
	return v.Envelopes(ctx, genesis)
}

func (v *visit) lookEnvelopes(ctx context.Context) error {
	found, err := v.checkEnvelopes(ctx)
	for _, e := range found {
		v.find(envelopesDir, "", false, "%s", v.short(e))
	}
	return err
}

// short returns an error's text without the home's path.
func (v *visit) short(err error) string {
	return strings.ReplaceAll(err.Error(), v.Dir+string(filepath.Separator), "")
}

// repairEnvelopes puts a damaged envelope store aside, creates another with the
// same relays, and records from where it has to be filled. After a crash in between
// the store is broken, or missing with a note that says so.
func (v *visit) repairEnvelopes(ctx context.Context) error {
	dir, aside := filepath.Join(v.Dir, envelopesDir), filepath.Join(v.quarantineDir, envelopesDir)
	if err := v.resumeEnvelopes(ctx, dir); err != nil {
		return err
	}
	found, err := v.checkEnvelopes(ctx)
	if err != nil || len(found) == 0 {
		return err
	}
	for _, e := range found {
		v.find(envelopesDir, "it is filled again", false, "%s", v.short(e))
	}
	if _, err := v.cursor(ctx, func(tx *store.Tx) error { return v.Refill(tx, v.within(aside)) }); err != nil {
		return err
	}
	if err := v.quarantine(dir); err != nil {
		return err
	}
	return v.beginEnvelopes(dir, aside)
}

// resumeEnvelopes creates the new envelope store of a repair that was interrupted.
func (v *visit) resumeEnvelopes(ctx context.Context, dir string) error {
	if v.Refilling == nil {
		return nil
	}
	if _, err := os.Stat(filepath.Join(dir, relaysName)); err == nil {
		return nil
	}
	var aside string
	_, err := v.cursor(ctx, func(tx *store.Tx) (err error) { aside, err = v.Refilling(tx); return err })
	if err != nil || aside == "" {
		return err
	}
	aside = filepath.Join(v.Dir, filepath.FromSlash(aside))
	if _, err := os.Stat(aside); err != nil {
		return nil // not put aside yet
	}
	return v.beginEnvelopes(dir, aside)
}

func (v *visit) beginEnvelopes(dir, aside string) error {
	if err := atomicfile.MkdirAll(dir); err != nil {
		return err
	}
	b, err := os.ReadFile(filepath.Join(aside, relaysName))
	var list map[string]json.RawMessage
	switch {
	case errors.Is(err, fs.ErrNotExist): // only the configured relay is used
		b = []byte("{}")
	case err != nil:
		return err
	case json.Unmarshal(b, &list) != nil:
		v.find(envelopesDir+"/"+relaysName, "add the mirrors again: locket relay add", true, "it can't be read")
		b = []byte("{}")
	}
	return atomicfile.Write(filepath.Join(dir, relaysName), b)
}
