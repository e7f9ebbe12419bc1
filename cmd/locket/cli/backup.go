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

	"github.com/locket-dev/locket/cmd/internal/meter"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/archive"
	"github.com/locket-dev/locket/node/backup"
	"github.com/locket-dev/locket/node/serve"
)

func backupPlace(a *App, dir string) (backup.Place, error) {
	l, err := a.Load()
	if err != nil {
		return nil, err
	}
	return backup.ParsePlace(dir, l.Home, a.Environment)
}

// OpenBackup opens an existing backup.
func OpenBackup(a *App, ctx context.Context, dir, file string) (*backup.Folder, error) {
	at, err := backupPlace(a, dir)
	if err != nil {
		return nil, err
	}
	there, err := backup.HasBackup(ctx, at)
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
		return nil, fmt.Errorf("backup: the passphrase is wrong, or key.age is damaged: %w", seal.ErrFile)
	}
	if errors.Is(err, memory.ErrInUse) {
		return nil, AdvisedError{Err: fmt.Errorf("backup: %w", err), Advice: "Another process writes or reads this backup. Run the same command again when that one has ended."}
	}
	return f, err
}

// BackupOptions are the options of locket backup.
type BackupOptions struct {
	File         string // contains the passphrase
	WithoutVault bool
	Replace      bool // overwrite the backup of another home
	Every        string
}

func ShowBackup(out io.Writer, w *backup.Written) {
	did := "Nothing has changed since the last backup."
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

// BackUp makes a backup. It begins a new one if there is none.
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
		fmt.Fprintf(a.Stderr, "The backup there is damaged and will be written again: %v\n", err)
	}
	var sealed []string
	write := func() (backup.Written, error) {
		m := a.Meter("back up", "records", before.Records)
		defer m.End()
		return f.Write(ctx, StillSealed(meter.CountItems(m, cl.Export(ctx, opt)), &sealed), backup.WriteOptions{Spool: a.Settings.Home, OtherHome: o.Replace, Vault: o.WithoutVault})
	}
	w, err = write()
	if errors.Is(err, serve.ErrVaultLocked) && opt.Secrets {
		if _, err = a.OpenVault(ctx, cl, "", time.Minute); err == nil {
			w, err = write()
		}
	}
	switch {
	case errors.Is(err, backup.ErrOtherHome), errors.Is(err, backup.ErrNothing):
		return w, AdvisedError{Err: fmt.Errorf("backup: %w", err), Advice: fmt.Sprintf("Restore it into this home first: locket backup restore %[1]q. To overwrite it with this home: locket backup %[1]q --replace", dir)}
	case err != nil:
		return w, InterruptedError{Err: fmt.Errorf("backup: %w", err), State: "An earlier backup there is unchanged."}
	}
	if opt.Secrets {
		a.TellSealed(sealed)
	}
	// The backup is complete, even if this cannot be recorded.
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
		fmt.Fprintln(a.Stderr, "The backup has its own passphrase.")
	}
	pass, err := a.NewPassphrase(file)
	if err != nil {
		return nil, err
	}
	return backup.Make(ctx, at, string(pass))
}

// StillSealed passes on the records of an export with secrets. It appends to labels the label of
// each secret whose value is missing from the export.
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

// TellSealed lists the secrets that are still sealed to another device in what was written.
func (a *App) TellSealed(labels []string) {
	if len(labels) == 0 {
		return
	}
	fmt.Fprintf(a.Stderr, "These secrets are sealed to another device, in this copy, too: %s.\nTo get them here, run an export with --secrets --encrypt there and import it. Secrets that it has synced: %s\n", OneLine(strings.Join(labels, ", ")), a.WithHome("locket vault recover"))
}
