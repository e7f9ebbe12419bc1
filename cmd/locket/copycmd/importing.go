package copycmd

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/node/archive"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/foreign"
	"github.com/locket-dev/locket/node/serve"
)

// importFlags are the flags of locket import.
type importFlags struct {
	from, signer, identity, passphraseFile string
	keyFile                                string // contains the key for an address that is read
	unsigned, dry                          bool
	me                                     []string
	dates                                  string
}

func ImportCommand(a *cli.App) *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use: "import [FILE|FOLDER|URL]", Short: "Import an export, or memories from another system", Args: cli.ArgsBetween(0, 1, ""),
		Long: `Reads what locket export wrote, in any of its forms, from a file or standard input. The
export is checked first. If it is cut off, was changed, or was signed by a stranger, all of
it is refused. What already exists is skipped, and what was forgotten here stays forgotten.

--from reads exports of other systems. Importing the same twice adds nothing. --dry-run
shows what would be added.

  mem0       the JSON of get_all or of an export, and of OpenMemory's list
  chatgpt    saved memories as text or JSON, or conversations.json
  claude     conversations.json
  notes      a Markdown file or folder
  whatsapp   a chat, exported without media
  telegram   result.json of Telegram Desktop, of a chat or the account
  mbox       a mailbox in one file, from Thunderbird or Google Takeout
  calendar   an .ics file, as every calendar program exports it
  locations  Google's Timeline.json, or Takeout's Semantic Location History, a file or folder
  mirix      the answer to GET /memory/components?memory_type=all&limit=200
  letta      an agent file (.af), or a list of archival passages
  omi        memories from its developer API, or conversations from its export or webhook; or
             the address of that API, https://api.omi.me or your own, with --key-file
  screenpipe the answer to GET /search
  basic-memory  its folder of Markdown

Memories of mem0, notes and mails are kept unchanged, and visits to places and appointments
as episodes. The extractors read what people wrote: in conversations with an assistant what
you wrote, in chats what everybody wrote. --me gives your name in a chat if it differs from
your settings.`,
		Example: `  locket import memories.jsonl.age
  locket import --from mem0 mem0.json
  locket import --from notes ~/Notes
  locket import --from calendar calendar.ics
  locket import --from whatsapp --me "Anna B." --dry-run chat.txt
  locket import --from omi --key-file omi.key --dry-run https://api.omi.me`,
		RunE: func(cmd *cobra.Command, args []string) error {
			path := "-"
			switch {
			case len(args) == 1:
				path = args[0]
			case a.IsInteractive():
				return cli.Usagef("a file is missing")
			}
			if f.from != "" && !slices.Contains(foreign.Formats, foreign.Format(f.from)) {
				return cli.Usagef("--from %q: want %s", f.from, systems())
			}
			if f.dates != "" && !slices.Contains(foreign.Orders, f.dates) {
				return cli.Usagef("--dates %q: want %s", f.dates, strings.Join(foreign.Orders, ", "))
			}
			if at := strings.Contains(path, "://"); at != (f.keyFile != "") || at && f.from != string(foreign.Omi) {
				return cli.Usagef("to read from an address, give --from omi and --key-file, a file that contains the key")
			}
			if f.from != "" {
				return importForeign(a, cmd, &f, path)
			}
			if f.dry {
				return cli.Usagef("--dry-run needs --from")
			}
			return importArchive(a, cmd, path, &f)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.from, "from", "", "read an export of another `system`: "+systems())
	fl.BoolVar(&f.dry, "dry-run", false, "with --from: show what would be added, and add nothing")
	fl.StringArrayVar(&f.me, "me", nil, "with --from: your `name` in the chat; may be repeated")
	fl.StringVar(&f.dates, "dates", "", "with --from whatsapp: the `order` of its dates, dmy, mdy or ymd")
	fl.StringVar(&f.keyFile, "key-file", "", "with --from omi and an address: a `file` with the key from Omi's app (Settings, Developer)")
	fl.StringVar(&f.signer, "signer", "", "accept an export that none of your devices signed, by the key with these five `words`")
	fl.BoolVar(&f.unsigned, "unsigned", false, "accept an export without a signature")
	fl.StringVar(&f.identity, "identity", "", "decrypt it with a `file` of age identities")
	fl.StringVar(&f.passphraseFile, "passphrase-file", "", "decrypt it with the passphrase from a `file`")
	return c
}

// systems lists the systems that an import can read, for messages.
func systems() string {
	names := make([]string, len(foreign.Formats))
	for i, f := range foreign.Formats {
		names[i] = string(f)
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// source is what an import reads: a file that was opened, sealed or not.
type source struct {
	io.ReaderAt
	size  int64
	close func() error
}

// openSource opens a file. Standard input is read to its end first.
func openSource(a *cli.App, path string, f *importFlags) (*source, error) {
	s := &source{close: func() error { return nil }}
	if path == "-" {
		b, err := io.ReadAll(a.Stdin)
		if err != nil {
			return nil, err
		}
		s.ReaderAt, s.size = bytes.NewReader(b), int64(len(b))
	} else {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		st, err := file.Stat()
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		s.ReaderAt, s.size, s.close = file, st.Size(), file.Close
	}
	start := make([]byte, 1024)
	n, err := s.ReadAt(start, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, s.close())
	}
	if !seal.IsFile(start[:n]) {
		return s, nil
	}
	var identities, pass string
	if f.identity != "" {
		b, err := os.ReadFile(f.identity)
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
		identities = string(b)
	} else {
		p, err := a.Passphrase(f.passphraseFile, "Passphrase of the export: ")
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
		pass = string(p)
	}
	s.ReaderAt, s.size, err = seal.OpenFile(s.ReaderAt, s.size, identities, pass)
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func importArchive(a *cli.App, cmd *cobra.Command, path string, f *importFlags) (err error) {
	opt := serve.ImportOptions{Unsigned: f.unsigned, Signer: strings.Join(strings.Fields(f.signer), " ")}
	var body io.Reader
	total := 0 // kB, if it is known
	if st, serr := os.Stat(path); path != "-" && serr == nil && st.IsDir() {
		root, err := os.OpenRoot(path)
		if err != nil {
			return fmt.Errorf("importing: %w", err)
		}
		defer root.Close()
		if _, err := root.Stat("README.md"); errors.Is(err, os.ErrNotExist) {
			return cli.AdvisedError{Err: fmt.Errorf("importing %s: it has no README.md, so it is not a notebook made by an export", path), Advice: "If it is a folder of notes, give --from notes."}
		}
		if body, err = notebook(a, root.FS(), archive.MaxNotebook); err != nil {
			return fmt.Errorf("importing %s: %w", path, err)
		}
	} else {
		s, err := openSource(a, path, f)
		if err != nil {
			return fmt.Errorf("importing: %w", err)
		}
		defer s.close()
		total = int(s.size / 1000)
		if body, err = lines(a, path, s); err != nil {
			if path == "-" {
				path = "standard input"
			}
			return fmt.Errorf("importing %s: %w", path, err)
		}
	}
	if c, ok := body.(io.Closer); ok {
		defer c.Close() // this also ends the writer of a pipe
	}
	return a.WithClient(cmd.Context(), true, func(cl *serve.Client) error {
		m := a.Meter("import", "kB", total)
		r, err := cl.Import(cmd.Context(), m.Reader(body), opt)
		m.End()
		switch {
		case errors.Is(err, serve.ErrSigner):
			err = cli.AdvisedError{Err: err, Advice: `The export printed five words when it was made. If the file is signed by the key with these words, add --signer "THE FIVE WORDS". To accept a file without a signature, add --unsigned.`}
		case unreadable(err) && path != "-":
			err = cli.AdvisedError{Err: fmt.Errorf("importing %s: %w", path, err), Advice: "If this is not an export of Locket, give --from with the name of the other system: locket import --help"}
		case err != nil:
			err = cli.InterruptedError{Err: err, State: "What was imported so far stays. Run the same command to continue."}
		}
		return a.PrintUnless(err, r, func(w io.Writer) {
			showImported(a, w, "Imported", &r)
			if len(r.Sealed) > 0 {
				fmt.Fprintf(w, "These secrets are sealed to the device that made the export, and cannot be opened here: %s. To get them, make the export there with --secrets --encrypt, and import that, too.\n", cli.OneLine(strings.Join(r.Sealed, ", ")))
			}
		})
	})
}

// unreadable reports whether the node could not parse what was imported.
func unreadable(err error) bool {
	p, ok := errors.AsType[*serve.Problem](err)
	return ok && p.Status == http.StatusBadRequest
}

// showImported prints what an import or a restore did. done is the word for that.
func showImported(a *cli.App, w io.Writer, done string, r *serve.ImportResult) {
	fmt.Fprintf(w, "%s %s; %d already there, %d refused.\n", done, cli.Plural(r.Taken, "record", "records"), r.Skipped, r.Refused)
	if r.Refused > 0 {
		fmt.Fprintln(w, a.WithHome("To see why: locket doctor"))
	}
	if r.Forgotten > 0 {
		fmt.Fprintf(w, "%s forgotten here and will not come back. To get them, import into another home: locket setup --home FOLDER\n", cli.Plural(r.Forgotten, "record was", "records were"))
	}
	if r.Wearer == "" {
		return
	}
	if l, err := a.Load(); err == nil {
		// Without the name, questions with "my" and "I" find little.
		name, _ := toml.Marshal(map[string]string{"wearer": r.Wearer})
		fmt.Fprintf(w, "The memories are of %s, but this home is of %s. Locket needs the name to know who \"I\" is. If both are you, write %s at the top of %s, and restart the daemon.\n",
			cli.OneLine(r.Wearer), cli.OneLine(l.Wearer), strings.TrimSpace(string(name)), filepath.Join(l.Home, config.FileName))
	}
}

// lines returns the lines of an archive: those of the file, or of the notebook in the file.
func lines(a *cli.App, path string, s *source) (io.Reader, error) {
	start := make([]byte, 512)
	n, err := s.ReadAt(start, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	start = start[:n]
	switch {
	case s.size < int64(cap(start)) && len(bytes.TrimSpace(start)) == 0:
		return nil, errors.New("it is empty")
	case bytes.HasPrefix(start, []byte("PK\x03\x04")):
		z, err := zip.NewReader(s, s.size)
		if err != nil {
			return nil, err
		}
		return notebook(a, z, archive.MaxZipped(s.size))
	case foreign.Guess(path, start) != "":
		return nil, fmt.Errorf("this looks like an export of %s: give --from %s", foreign.Guess(path, start), foreign.Guess(path, start))
	case bytes.HasPrefix(bytes.TrimSpace(start), []byte("[")), bytes.HasPrefix(bytes.TrimSpace(start), []byte("{")) && !bytes.Contains(start, []byte(`"kind"`)):
		return nil, errors.New("this is not an export of Locket; if it is from another system, give --from with its name")
	}
	return io.NewSectionReader(s, 0, s.size), nil
}

// notebook returns the lines of the archive that a folder of Markdown contains.
func notebook(a *cli.App, folder fs.FS, most int64) (io.Reader, error) {
	records, edited, err := archive.ReadNotebook(folder, most)
	if err != nil {
		return nil, err
	}
	for _, name := range edited {
		fmt.Fprintf(a.Stderr, "%s was edited by hand: its records are imported, but not the edited words.\n", cli.OneLine(name))
	}
	return linesOf(records), nil
}

// linesOf writes records as lines while they are read.
func linesOf(records iter.Seq2[serve.ExportRecord, error]) io.Reader {
	r, w := io.Pipe()
	go func() {
		buf := bufio.NewWriter(w)
		enc := json.NewEncoder(buf)
		for rec, err := range records {
			if err == nil {
				err = enc.Encode(rec)
			}
			if err != nil {
				w.CloseWithError(err)
				return
			}
		}
		w.CloseWithError(buf.Flush())
	}()
	return r
}
