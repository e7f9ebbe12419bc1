package copycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/filelock"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/notes"
	"github.com/locket-dev/locket/node/serve"
)

func NotesCommand(a *cli.App) *cobra.Command {
	var o notes.Options
	var watch, forget, again bool
	var types []string
	sensitivity := memory.Personal.String()
	c := &cobra.Command{
		Use: "notes FOLDER", Short: "Keep a folder of Markdown notes in sync with memories, for Obsidian and others", Args: cli.ArgsBetween(1, 1, "the folder"),
		Long: `Writes a Markdown note for each current memory, and pages for people, places and days, with
properties, wikilinks and photos. The next run writes only what has changed.

If you edit a note's text, steps, content or tags, its memory is corrected, and locket why
names the note. If you delete a note, the command asks before it forgets the memory. With
--forget it asks only if more than ten notes, and more than a fifth of all, are missing at
once; without a terminal it then forgets nothing. If a file can no longer be read as a note,
the command names it, and its memory stays. If a note was edited while its memory changed,
the edit is kept in a copy beside the note. Your own properties stay, and so does what you
write below the links of a note or around those of a page.

What is in the vault never becomes a note. Notes are not encrypted: --sensitivity limits
what they contain. Use a separate folder, inside your Obsidian vault or elsewhere.`,
		Example: `  locket notes ~/Obsidian/Locket
  locket notes ~/Obsidian/Locket --watch
  locket notes ~/Obsidian/Locket --types episodic,semantic --sensitivity public --dry-run`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Sensitivity.UnmarshalText([]byte(sensitivity)); err != nil {
				return cli.UsageError{Err: fmt.Errorf("--sensitivity: %w", err)}
			}
			for _, t := range types {
				if t == string(memory.Vault) {
					return cli.Usagef("--types vault: what is in the vault never becomes a note")
				}
				if !slices.Contains(memory.Types[:], memory.Type(t)) {
					return cli.Usagef("--types %q: want core, episodic, semantic, procedural or resource", t)
				}
				o.Types = append(o.Types, memory.Type(t))
			}
			if forget && again {
				return cli.Usagef("--forget and --again: choose one")
			}
			if watch && o.Dry {
				return cli.Usagef("--watch with --dry-run: nothing would change")
			}
			if _, err := a.Load(); err != nil {
				return err
			}
			o.Zone = a.Zone()
			switch {
			case forget:
				o.Ask = func(string, *memory.Memory) notes.Answer { return notes.Forget }
				if a.IsInteractive() {
					o.Many = func(missing, all int) bool {
						return a.Confirm(fmt.Sprintf("%d of %d notes are missing at once. Forget their memories for good?", missing, all))
					}
				}
			case again:
				o.Ask = func(string, *memory.Memory) notes.Answer { return notes.Again }
			case a.IsInteractive():
				o.Many = func(int, int) bool { return true } // the person was asked about each one
				o.Ask = func(path string, m *memory.Memory) notes.Answer {
					if a.Confirm(fmt.Sprintf("%s was deleted. Forget %q for good? (Answer no to write the note again.)", cli.OneLine(path), cli.Short(cli.OneLine(m.Text), 60))) {
						return notes.Forget
					}
					return notes.Again
				}
			}
			return keepNotes(a, cmd.Context(), args[0], o, watch)
		},
	}
	f := c.Flags()
	f.BoolVar(&watch, "watch", false, "keep running, and follow changes on both sides")
	f.BoolVar(&o.Dry, "dry-run", false, "show what would be done, and change nothing")
	f.StringVar(&sensitivity, "sensitivity", sensitivity, "the most sensitive `level` to write: public, personal, private or secret")
	f.StringSliceVar(&types, "types", nil, "only these `types`: core, episodic, semantic, procedural, resource")
	f.BoolVar(&forget, "forget", false, "forget the memories whose notes were deleted, without asking")
	f.BoolVar(&again, "again", false, "write deleted notes again")
	return c
}

// keepNotes makes a folder and the memories agree, once or, with watch, until ctx ends.
func keepNotes(a *cli.App, ctx context.Context, path string, o notes.Options, watch bool) (err error) {
	if _, missing := os.Stat(path); o.Dry && errors.Is(missing, fs.ErrNotExist) {
		if path, err = os.MkdirTemp("", "locket-notes-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.Remove(path)) }()
	} else if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	defer root.Close()
	if !o.Dry {
		lock, err := filelock.Take(filepath.Join(path, ".locket-notes.lock"))
		if errors.Is(err, memory.ErrInUse) {
			return fmt.Errorf("another locket notes is working on %s: %w", path, err)
		}
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, lock.Release()) }()
	}
	return a.WithClient(ctx, true, func(cl *serve.Client) error {
		if !watch {
			_, err := notesOnce(a, ctx, root, cl, o, nil)
			return err
		}
		return watchNotes(a, ctx, root, cl, o)
	})
}

func notesOnce(a *cli.App, ctx context.Context, root *os.Root, cl *serve.Client, o notes.Options, before *notes.Report) (notes.Report, error) {
	r, err := notes.Sync(ctx, root, cl, o)
	if err != nil {
		return r, err
	}
	if before == nil || r.Changed() || len(r.Waiting) != len(before.Waiting) || len(r.Failed) != len(before.Failed) || r.LeftOut != before.LeftOut {
		for _, path := range r.Waiting {
			fmt.Fprintf(a.Stderr, "%s was deleted, but its memory stays: give --forget to erase it, or --again to write the note again.\n", cli.OneLine(path))
		}
		for _, path := range r.Conflicts {
			fmt.Fprintf(a.Stderr, "%s keeps what you wrote, because the memory changed meanwhile.\n", cli.OneLine(path))
		}
		for _, why := range r.Failed {
			fmt.Fprintln(a.Stderr, cli.OneLine(why))
		}
		if err := a.Print(r, func(w io.Writer) {
			would := ""
			if o.Dry {
				would = "Nothing was changed. The result would be: "
			}
			fmt.Fprintf(w, "%s%s. Files written: %d, removed: %d. Memories corrected: %d, forgotten: %d.\n", would, cli.Plural(r.Notes, "note", "notes"), r.Written, r.Removed, r.Corrected, r.Forgotten)
			if r.LeftOut > 0 {
				fmt.Fprintf(w, "%s left out: more sensitive than %s (--sensitivity).\n", cli.Plural(r.LeftOut, "memory is", "memories are"), o.Sensitivity)
			}
		}); err != nil {
			return r, err
		}
	}
	if len(r.Failed) > 0 {
		err = fmt.Errorf("%s could not be read", cli.Plural(len(r.Failed), "note", "notes"))
	}
	return r, err
}

// notesEvery is how often a watched folder is checked.
const notesEvery = 2 * time.Second

// watchNotes follows both sides until ctx ends. After a round that wrote something it does another
// one, to notice edits made meanwhile.
func watchNotes(a *cli.App, ctx context.Context, root *os.Root, cl *serve.Client, o notes.Options) (err error) {
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	defer func() {
		if ctx.Err() != nil {
			err = nil // ending it is no failure
		}
	}()
	changed, ended := make(chan struct{}, 1), make(chan error, 1)
	var before *notes.Report
	for look := ""; ; {
		now, err := notes.Look(root)
		if err != nil {
			return err
		}
		moved := before == nil || before.Changed() || now != look
		select {
		case err := <-ended:
			return errors.Join(err, errors.New("the node reports no more changes"))
		case <-changed:
			moved = true
		default:
		}
		if moved {
			r, err := notesOnce(a, ctx, root, cl, o, before)
			if err != nil && len(r.Failed) == 0 {
				return err
			}
			if before == nil {
				running.Go(func() {
					for _, err := range cl.Changes(ctx, r.Seq, true) {
						if err != nil {
							ended <- err
							return
						}
						select {
						case changed <- struct{}{}:
						default:
						}
					}
					ended <- nil
				})
			}
			look, before = now, &r
		}
		if !wait.For(ctx, notesEvery) {
			return nil
		}
	}
}
