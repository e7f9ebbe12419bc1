package cli

import (
	"path/filepath"

	"github.com/locket-dev/locket/node/share"
)

// readerDir is the folder in the home for a reader's key and what it fetched.
const readerDir = "reader"

// Reader opens what others share with the wearer on this machine. It needs no node.
func Reader(a *App) (*share.Reader, error) {
	l, err := a.Load()
	if err != nil {
		return nil, err
	}
	return &share.Reader{Dir: filepath.Join(l.Home, readerDir), Reserve: uint64(l.Disk.Reserve), Log: a.Logger(&l.Config)}, nil
}
