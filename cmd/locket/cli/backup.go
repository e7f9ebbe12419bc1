package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/node/archive"
	"github.com/locket-dev/locket/node/backup"
	"github.com/locket-dev/locket/node/serve"
)

func backupPlace(a *App, dir string) (backup.Place, error) {
	l, err := a.Load()
	if err != nil {
		return nil, err
	}
	return backup.At(dir, l.Home, a.Environment)
}

// OpenBackup opens a backup that is there.
func OpenBackup(a *App, ctx context.Context, dir, file string) (*backup.Folder, error) {
	at, err := backupPlace(a, dir)
	if err != nil {
		return nil, err
	}
	there, err := backup.Has(ctx, at)
	if err != nil {
		return nil, err
	}
	if !there {
		return nil, fmt.Errorf("%w: %s", backup.ErrNone, at)
	}
	pass, err := a.Passphrase(file, "Passphrase of the backup: ")
	if err != nil {
		return nil, err
	}
	f, err := backup.Open(ctx, at, string(pass))
	if errors.Is(err, seal.ErrFile) {
		return nil, fmt.Errorf("backup: this is not its passphrase, or key.age is damaged: %w", seal.ErrFile)
	}
	return f, err
}

// BackupOptions are those of locket backup.
type BackupOptions struct {
	File         string // of the passphrase
	WithoutVault bool
	Replace      bool // what is of another home
	Every        string
}

func ShowBackup(out io.Writer, w *backup.Written) {
	did := "Nothing has changed since the last one."
	switch {
	case w.New > 0 && w.Gone > 0:
		did = fmt.Sprintf("Written: %s, %s, in place of %d.", Plural(w.New, "piece", "pieces"), Size(w.Bytes), w.Gone)
	case w.New > 0:
		did = fmt.Sprintf("Written: %s, %s.", Plural(w.New, "piece", "pieces"), Size(w.Bytes))
	case w.Gone > 0:
		did = fmt.Sprintf("Nothing is new; %s no longer needed was removed.", Plural(w.Gone, "piece", "pieces"))
	}
	fmt.Fprintf(out, "%s. %s\n", Plural(w.Records, "record", "records"), did)
}

// BackUp makes a backup, and begins it where there is none.
func BackUp(a *App, ctx context.Context, cl *serve.Client, dir string, o *BackupOptions) (w backup.Written, err error) {
	f, err := OpenBackup(a, ctx, dir, o.File)
	if errors.Is(err, backup.ErrNone) {
		f, err = beginBackup(a, ctx, dir, o.File)
	}
	if err != nil {
		return w, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	opt := serve.ExportOptions{Secrets: !o.WithoutVault}
	before, err := f.Index(ctx)
	if errors.Is(err, backup.ErrDamaged) {
		fmt.Fprintf(a.Stderr, "What is there is damaged, and is written anew: %v\n", err)
	}
	var sealed []string
	write := func() (backup.Written, error) {
		m := a.Meter("back up", "records", before.Records)
		defer m.End()
		return f.Write(ctx, StillSealed(m.Counted(cl.Export(ctx, opt)), &sealed), backup.WriteOptions{Spool: a.Settings.Home, OtherHome: o.Replace, Vault: o.WithoutVault})
	}
	w, err = write()
	if errors.Is(err, serve.ErrVaultLocked) && opt.Secrets {
		if _, err = a.OpenVault(ctx, cl, "", time.Minute); err == nil {
			w, err = write()
		}
	}
	switch {
	case errors.Is(err, backup.ErrOtherHome), errors.Is(err, backup.ErrNothing):
		return w, AdvisedError{Err: fmt.Errorf("backup: %w", err), Advice: fmt.Sprintf("Take it into this home first: locket backup restore %[1]q. To give it up for what this home has: locket backup %[1]q --replace", dir)}
	case err != nil:
		return w, GoesOnError{Err: fmt.Errorf("backup: %w", err), State: "The backup before, if there is one, is as it was."}
	}
	if opt.Secrets {
		a.TellSealed(sealed)
	}
	// The backup is made, whether or not this can be noted.
	if err := backup.NoteByHand(a.Settings.Home, dir, w, opt.Secrets); err != nil {
		fmt.Fprintf(a.Stderr, "locket status will not show this backup: %v\n", err)
	}
	return w, nil
}

func beginBackup(a *App, ctx context.Context, dir, file string) (*backup.Folder, error) {
	at, err := backupPlace(a, dir)
	if err == nil {
		err = backup.Outside(dir, a.Settings.Home)
	}
	if err != nil {
		return nil, err
	}
	if file == "" {
		fmt.Fprintln(a.Stderr, "The backup gets a passphrase of its own.")
	}
	pass, err := a.NewPassphrase(file)
	if err != nil {
		return nil, err
	}
	return backup.Make(ctx, at, string(pass))
}

// StillSealed passes on the records of an export with secrets. It adds to labels the label of each secret whose
// value the export lacks.
func StillSealed(records iter.Seq2[serve.ExportRecord, error], labels *[]string) iter.Seq2[serve.ExportRecord, error] {
	return func(yield func(serve.ExportRecord, error) bool) {
		*labels = nil
		for r, err := range records {
			var x archive.Assertion
			if err == nil && r.Kind == archive.KindAssertion && bytes.Contains(r.Data, []byte(`"sealed":`)) && json.Unmarshal(r.Data, &x) == nil {
				if v := x.Vault(); v != nil && x.Secret == "" && !slices.Contains(*labels, v.Label) {
					*labels = append(*labels, v.Label)
				}
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// TellSealed says which secrets stay sealed to another device in what was written.
func (a *App) TellSealed(labels []string) {
	if len(labels) == 0 {
		return
	}
	fmt.Fprintf(a.Stderr, "Sealed to another device, and so in it, too: %s. To have them here, make an export there with --secrets\n--encrypt, and import it; what that device has synced: %s\n", OneLine(strings.Join(labels, ", ")), a.Here("locket vault recover"))
}
