package diskspace

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// Free returns the bytes that are free for this user in the volume of dir.
func Free(dir string) (uint64, error) {
	p, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(p, &free, nil, nil); err != nil {
		return 0, &os.PathError{Op: "GetDiskFreeSpaceEx", Path: dir, Err: err}
	}
	return free, nil
}

// IsFull reports whether err means a full disk.
func IsFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

// allocated returns a file's length, which an ordinary file on NTFS takes.
func allocated(info fs.FileInfo) uint64 { return uint64(info.Size()) }
