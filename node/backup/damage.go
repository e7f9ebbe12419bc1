package backup

import (
	"context"
	"errors"
	"strings"

	"github.com/locket-dev/locket/node/archive"
)

// NoteDamage reads the newest export's pieces, and records in the backup which of them
// are damaged or missing. The next Write writes them again, if its export has them. The names are
// returned even if they could not be recorded.
func (f *Folder) NoteDamage(ctx context.Context) (names []string, err error) {
	ix, err := f.Index(ctx)
	if err != nil {
		return nil, err
	}
	err = f.each(ctx, &ix, func(id string, _ []archive.Record, err error) error {
		if errors.Is(err, ErrDamaged) {
			names = append(names, place(id))
			return nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, nil
	}
	return names, f.at.Write(ctx, damagedName, []byte(strings.Join(names, "\n")+"\n"))
}

// list returns the names and sizes of the existing files. The size of a damaged piece is
// -1, which no piece has.
func (f *Folder) list(ctx context.Context) (there map[string]int64, err error) {
	if there, err = f.at.List(ctx); err != nil {
		return nil, err
	}
	if _, noted := there[damagedName]; !noted {
		return there, nil
	}
	b, err := f.at.Read(ctx, damagedName)
	if err != nil {
		return nil, err
	}
	for name := range strings.Lines(string(b)) {
		if name = strings.TrimSpace(name); there[name] > 0 && isPiece(name) {
			there[name] = -1
		}
	}
	return there, nil
}

// isPiece reports whether a name is that of a piece. Somebody who has access to the
// folder may have put other names there.
func isPiece(name string) bool {
	id := name[strings.LastIndexByte(name, '/')+1:]
	return isID.MatchString(id) && name == place(id)
}

func countPieces(there map[string]int64) (n int) {
	for name := range there {
		if isPiece(name) {
			n++
		}
	}
	return n
}
