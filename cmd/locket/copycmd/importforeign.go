package copycmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/foreign"
	"github.com/locket-dev/locket/node/serve"
)

// imported is what locket import --from prints.
type imported struct {
	Added   int `json:"added"`
	There   int `json:"there_already"`
	Ended   int `json:"ended,omitempty"` // of earlier imports: what is cancelled or done now
	Erased  int `json:"erased"`          // added once, and forgotten since
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"` // contained nothing to import
	Secrets int `json:"secrets"` // moved to the vault

	secret bool // one failed because it holds a secret
}

// previewed is what locket import --from --dry-run prints.
type previewed struct {
	Would   int       `json:"would_add"` // some of them may already exist
	Undated int       `json:"undated"`   // how many of them have no time; these end no existing memory
	Skipped int       `json:"skipped"`
	First   time.Time `json:"first,omitzero"` // the earliest time
	Last    time.Time `json:"last,omitzero"`
	Texts   []string  `json:"texts"` // of the first ones
}

// previewLines is how many texts a preview shows.
const previewLines = 10

func preview(res *foreign.Result) previewed {
	p := previewed{Would: len(res.Adds), Skipped: len(res.Skipped), Texts: []string{}}
	for i := range res.Adds {
		r := &res.Adds[i]
		if !r.At.IsZero() && (p.First.IsZero() || r.At.Before(p.First)) {
			p.First = r.At
		}
		if r.At.IsZero() {
			p.Undated++
		}
		if r.At.After(p.Last) {
			p.Last = r.At
		}
		if i < previewLines {
			text := cli.Short(foreign.Shown(r), 60)
			if r.Speaker != "" {
				text = r.Speaker + ": " + text
			}
			p.Texts = append(p.Texts, text)
		}
	}
	return p
}

func importForeign(a *cli.App, cmd *cobra.Command, f *importFlags, path string) error {
	l, err := a.Load()
	if err != nil {
		return err
	}
	zone, err := l.Location()
	if err != nil {
		return err
	}
	o := foreign.Options{Zone: zone, Me: append(f.me, l.Wearer), Dates: f.dates}
	var res foreign.Result
	var stopped error // why an address was not read to its end; what was read is added
	if f.keyFile != "" {
		res, err = poll(a, cmd.Context(), path, f.keyFile, o)
		if len(res.Adds) > 0 && cmd.Context().Err() == nil && !f.dry {
			stopped, err = err, nil
		}
	} else {
		res, err = readForeign(a, cmd.Context(), foreign.Format(f.from), path, o)
	}
	if err != nil {
		return fmt.Errorf("importing: %w", err)
	}
	for _, s := range res.Skipped {
		fmt.Fprintf(a.Stderr, "%s: %s\n", cli.OneLine(s.Where), cli.OneLine(s.Reason))
	}
	if res.More > 0 {
		fmt.Fprintf(a.Stderr, "and %d more are left out\n", res.More)
	}
	if f.dry {
		p := preview(&res)
		return a.Print(p, func(w io.Writer) {
			fmt.Fprintf(w, "Found %d", p.Would)
			if !p.First.IsZero() {
				fmt.Fprintf(w, ", from %s to %s", a.ShowTime(p.First), a.ShowTime(p.Last))
			}
			fmt.Fprintln(w, ". What already exists is not added again.")
			if p.Undated > 0 {
				fmt.Fprintf(w, "Without a date: %d. These are added beside existing memories and end none of them.\n", p.Undated)
			}
			for _, text := range p.Texts {
				fmt.Fprintln(w, "  "+cli.OneLine(text))
			}
			if p.Would > len(p.Texts) {
				fmt.Fprintf(w, "  and %d more\n", p.Would-len(p.Texts))
			}
		})
	}
	if stopped != nil {
		stopped = fmt.Errorf("importing: %w", stopped)
	}
	return errors.Join(addForeign(a, cmd.Context(), &res), stopped)
}

// poll reads the memories and conversations that Omi has.
func poll(a *cli.App, ctx context.Context, at, keyFile string, o foreign.Options) (foreign.Result, error) {
	key, err := os.ReadFile(keyFile)
	if err != nil {
		return foreign.Result{}, err
	}
	api := foreign.OmiAPI{URL: at, Key: strings.TrimSpace(string(key)), Note: func(why string) { fmt.Fprintln(a.Stderr, cli.OneLine(why)) }}
	return api.Read(ctx, o)
}

// addForeign adds what was read. It does not add again what already exists.
func addForeign(a *cli.App, ctx context.Context, res *foreign.Result) error {
	done := imported{Skipped: len(res.Skipped) + res.More}
	return a.WithClient(ctx, true, func(cl *serve.Client) error {
		if err := addAll(a, ctx, cl, res, &done); err != nil {
			return err
		}
		err := a.Print(done, func(w io.Writer) {
			fmt.Fprintf(w, "Added %d; %d already there, %d failed.\n", done.Added, done.There, done.Failed)
			if done.Ended > 0 {
				fmt.Fprintf(w, "Ended %d of an earlier import: cancelled, or done.\n", done.Ended)
			}
			if n := done.Erased; n > 0 {
				fmt.Fprint(w, a.WithHomef("%s not kept here any more: what was erased does not come back. To keep it again, say it to Locket: locket add TEXT\n", cli.Plural(n, "text is", "texts are")))
			}
			if n := done.Skipped; n > 0 {
				fmt.Fprintf(w, "%s left out, because nothing in it can be imported: see above.\n", cli.Plural(n, "item was", "items were"))
			}
			if done.Secrets > 0 {
				fmt.Fprint(w, a.WithHomef("%s went to the vault, and is kept nowhere else: locket vault\n", cli.Plural(done.Secrets, "secret", "secrets")))
			}
		})
		if err == nil && done.Failed > 0 {
			err = fmt.Errorf("%d of %d failed", done.Failed, len(res.Adds))
			if done.secret {
				err = cli.AdvisedError{Err: err, Advice: "Take the secret out of the text, and import it again. To keep it in the vault, say it to Locket: locket add TEXT"}
			}
		}
		return err
	})
}

// addAll adds what was read, and counts it in done.
func addAll(a *cli.App, ctx context.Context, cl *serve.Client, res *foreign.Result, done *imported) error {
	all := slices.Concat(res.Adds, res.Ends)
	m := a.Meter("import", "texts", len(all))
	defer m.End()
	for part := range batches(all) {
		ops := make([]serve.Operation, len(part))
		for i := range part {
			ops[i].Add = &part[i]
		}
		got, err := cl.Batch(ctx, ops)
		if err != nil {
			err = fmt.Errorf("after %s: %w", cli.Plural(done.Added, "memory", "memories"), err)
			return cli.InterruptedError{Err: err, State: fmt.Sprintf("At least %d of %d texts are imported. Run the same command to continue.", m.Done.Load(), len(all))}
		}
		m.Done.Add(int64(len(part)))
		for i, r := range got.Results {
			if r.Problem != nil && (holdsSecret(&part[i], r.Problem) || changed(&part[i], r.Problem)) {
				if again, err := cl.Add(ctx, part[i]); err == nil {
					r.Problem, r.Added = nil, &again
				}
			}
			if r.Problem != nil && errors.Is(r.Problem, serve.ErrSecret) && foreign.DropNotes(&part[i]) {
				if again, err := cl.Add(ctx, part[i]); err == nil {
					r.Problem, r.Added = nil, &again
					m.PrintAbove(func() {
						fmt.Fprintf(a.Stderr, "%q: its notes hold a secret, and are left out\n", cli.OneLine(cli.Short(part[i].Text, 60)))
					})
				}
			}
			switch {
			case r.Problem != nil:
				done.Failed++
				done.secret = done.secret || errors.Is(r.Problem, serve.ErrSecret)
				m.PrintAbove(func() {
					fmt.Fprintf(a.Stderr, "%q: %s\n", cli.OneLine(cli.Short(foreign.Shown(&part[i]), 60)), cli.OneLine(r.Problem.Error()))
				})
			case part[i].Ends:
				if !r.Added.Repeated {
					done.Ended++
				}
			case r.Added != nil && r.Added.Repeated && r.Added.Memory.IsZero() && r.Added.Line.IsZero():
				done.Erased++
			case r.Added != nil && r.Added.Repeated:
				done.There++
			default:
				done.Added++
				if r.Added != nil {
					done.Secrets += r.Added.Redacted
				}
			}
		}
	}
	return nil
}

// changed reports whether a text was refused because an earlier import added another text with the
// same key: the text was changed in the other system since. Then changed gives it a key of its own.
func changed(add *serve.AddRequest, p *serve.Problem) bool {
	if p.Field != "key" || !errors.Is(p, serve.ErrConflict) {
		return false
	}
	sum := sha256.Sum256([]byte(add.Key + "\x00" + add.Text))
	add.Key = hex.EncodeToString(sum[:16])
	return true
}

// holdsSecret reports whether a memory was refused because it contains a secret. If so, it changes
// the request so that the extractors read the text: they put the secret into the vault and remember
// the rest. A note or a mail is more than a spoken line, and stays refused.
func holdsSecret(add *serve.AddRequest, p *serve.Problem) bool {
	if add.Infers() || add.Fields.Resource != nil || add.Fields.Episodic != nil || !errors.Is(p, serve.ErrSecret) {
		return false
	}
	yes := true
	add.Infer, add.Tags = &yes, nil
	return true
}

// batches splits requests so that each batch fits into one request body.
func batches(adds []serve.AddRequest) iter.Seq[[]serve.AddRequest] {
	return func(yield func([]serve.AddRequest) bool) {
		for len(adds) > 0 {
			n, size := 0, 0
			for n < len(adds) && n < cli.LinesOfBatch {
				// A text and its content, each at worst 6 bytes a byte as JSON, but
				// hardly ever over 2.
				size += 2*len(adds[n].Text) + 1024
				if f := adds[n].Fields.Resource; f != nil {
					size += 2 * len(f.Content)
				}
				if n > 0 && size > serve.MaxBody/2 {
					break
				}
				n++
			}
			if !yield(adds[:n]) {
				return
			}
			adds = adds[n:]
		}
	}
}

func readForeign(a *cli.App, ctx context.Context, format foreign.Format, path string, o foreign.Options) (foreign.Result, error) {
	if path == "-" {
		return foreign.Read(ctx, format, "standard input", a.Stdin, o)
	}
	st, err := os.Stat(path)
	if err != nil {
		return foreign.Result{}, err
	}
	if st.IsDir() {
		root, err := os.OpenRoot(path)
		if err != nil {
			return foreign.Result{}, err
		}
		defer root.Close()
		return foreign.ReadFolder(ctx, format, root.FS(), o)
	}
	f, err := os.Open(path)
	if err != nil {
		return foreign.Result{}, err
	}
	defer f.Close()
	return foreign.Read(ctx, format, st.Name(), f, o)
}
