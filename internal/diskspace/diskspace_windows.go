package diskspace

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// Free is the space of the volume that holds dir, for this user, in bytes.
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

// IsFull tells the errors of a full disk.
func IsFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

// allocated is a file's length: on NTFS a file that is not sparse takes that.
func allocated(info fs.FileInfo) uint64 { return uint64(info.Size()) }
