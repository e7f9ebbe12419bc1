package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote"
)

// A home has a folder "spaces", with a folder for each identity:
//
//	identity    its keys
//	space.json the space that it has joined; missing until then
//	store/      its replica
//
// "queue.db" beside it has the jobs, "run" has the folders of engines, "cache"
// the machine code of the built-in extractors.
const (
	spacesDir = "spaces"
	spaceFile = "space.json"
	jobsFile  = "queue.db"
)

// Joined describes a space that an identity belongs to.
type Joined struct {
	Space   memory.SpaceID  `json:"space"`
	Member  memory.MemberID `json:"member"`
	Relay   string          `json:"relay"`
	Genesis []byte          `json:"genesis"` // wire form of the log's first entry
}

// InviteKey returns the request that the worker's operator gives to the owner
// of a space, in the form that `locket grant worker` takes (see
// envelope.ParseRequest). It returns the same request until that has been used.
func InviteKey(home string) (string, error) {
	dirs, err := places(home)
	if err != nil {
		return "", err
	}
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, spaceFile)); errors.Is(err, fs.ErrNotExist) {
			id, err := readIdentity(dir)
			if err != nil {
				return "", err
			}
			defer id.zero()
			return id.request()
		}
	}
	base := filepath.Join(home, spacesDir)
	if err := os.MkdirAll(base, 0o700); err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(base, ".new-")
	if err != nil {
		return "", err
	}
	id, err := newIdentity(tmp)
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(tmp))
	}
	defer id.zero()
	sum := sha256.Sum256(id.public())
	if err := os.Rename(tmp, filepath.Join(base, hex.EncodeToString(sum[:8]))); err != nil {
		return "", errors.Join(err, os.RemoveAll(tmp))
	}
	return id.request()
}

// places returns the folders of the identities.
func places(home string) ([]string, error) {
	list, err := os.ReadDir(filepath.Join(home, spacesDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, e := range list {
		if e.IsDir() && e.Name()[0] != '.' {
			out = append(out, filepath.Join(home, spacesDir, e.Name()))
		}
	}
	return out, err
}

// ErrNotAdmitted: the relay, or the membership log, does not have the worker.
var ErrNotAdmitted = errors.New("the space does not have this worker (yet)")

// Join takes the owner's answer to the request (see envelope.Welcome) and finds the space at the
// relay. It returns [ErrNotAdmitted] as long as the worker was not granted.
func Join(ctx context.Context, home, relay, welcome string) (Joined, error) {
	w, err := envelope.ParseWelcome(welcome)
	if err != nil {
		return Joined{}, err
	}
	at, err := remote.New(relay, remote.Option{})
	if err != nil {
		return Joined{}, fmt.Errorf("join a space: %w", err)
	}
	defer at.Close()
	dirs, err := places(home)
	if err != nil {
		return Joined{}, err
	}
	for _, dir := range dirs {
		if j, err := readJoined(dir); err == nil && j.Space == w.Space {
			return j, nil
		}
	}
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, spaceFile)); err == nil {
			continue
		}
		id, err := readIdentity(dir)
		if err != nil {
			return Joined{}, err
		}
		defer id.zero()
		j := Joined{Space: w.Space, Member: envelope.MemberOf(id.public(), w.Space), Relay: relay}
		if j.Genesis, err = readAsWorker(ctx, at, w, id, j.Member); err != nil {
			return Joined{}, fmt.Errorf("join space %s: %w", w.Space, err)
		}
		b, err := json.Marshal(j)
		if err == nil {
			err = atomicfile.Write(filepath.Join(dir, spaceFile), b)
		}
		return j, err
	}
	return Joined{}, fmt.Errorf("join space %s: no request waits for an answer: make one first", w.Space)
}

// readAsWorker reads the log as the worker and returns the first entry.
func readAsWorker(ctx context.Context, at *remote.Relay, w envelope.Welcome, id *identity, member memory.MemberID) ([]byte, error) {
	entries, err := at.Space(w.Space, member, httpsig.KeySigner(id.sign)).Log(ctx, 0)
	if errors.Is(err, remote.ErrForbidden) || errors.Is(err, remote.ErrNotFound) {
		return nil, fmt.Errorf("%w: %w", ErrNotAdmitted, err)
	}
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 || entries[0].Hash() != w.Genesis {
		return nil, fmt.Errorf("the relay shows another space than the one that the owner named")
	}
	state, err := envelope.VerifyLog(entries)
	if err != nil {
		return nil, err
	}
	m, ok := state.Member(member)
	if !ok {
		return nil, ErrNotAdmitted
	}
	if m.Role != envelope.Extractor {
		return nil, fmt.Errorf("the space has this worker as %s, and not as extractor", m.Role)
	}
	return entries[0].Bytes(), nil
}

func readJoined(dir string) (Joined, error) {
	var j Joined
	b, err := os.ReadFile(filepath.Join(dir, spaceFile))
	if err == nil {
		err = json.Unmarshal(b, &j)
	}
	if err != nil {
		return j, fmt.Errorf("%s: %w", spaceFile, err)
	}
	return j, nil
}

// removeSpace removes everything of a space whose keys were destroyed: its data on the
// disk, its jobs, and last the file that names the space. After a crash, that
// file tells the next start which jobs have to be removed.
func removeSpace(ctx context.Context, q *queue.Queue, dir string, space memory.SpaceID) error {
	list, err := os.ReadDir(dir)
	for _, e := range list {
		if e.Name() != spaceFile {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	if err := errors.Join(err, q.Leave(ctx, space)); err != nil {
		return err
	}
	gone := filepath.Join(filepath.Dir(dir), ".gone-"+filepath.Base(dir))
	if err := os.Rename(dir, gone); err != nil {
		return err
	}
	return os.RemoveAll(gone)
}

// sweep removes what an interrupted removeSpace or InviteKey has left.
func sweep(home string) error {
	var errs []error
	for _, pattern := range []string{".gone-*", ".new-*"} {
		left, err := filepath.Glob(filepath.Join(home, spacesDir, pattern))
		errs = append(errs, err)
		for _, dir := range left {
			errs = append(errs, os.RemoveAll(dir))
		}
	}
	return errors.Join(append(errs, os.RemoveAll(filepath.Join(home, "run")))...)
}
