package omi

import "encoding/binary"

// Legacy storage (omi/firmware/devkit/src/storage.c). A command to StorageChar:
//
//	0  u8      0 read, 1 delete, 2 delete all, 3 stop, 50 heartbeat
//	1  u8      file: 1
//	2  u32 BE  offset in bytes; the device rounds it down to a multiple of 440
//
// A notification is one byte of status, or a block of up to 440 bytes.

// LegacyCommand is a command to legacy storage.
type LegacyCommand uint8

// The commands.
const (
	LegacyRead      LegacyCommand = 0
	LegacyDelete    LegacyCommand = 1
	LegacyDeleteAll LegacyCommand = 2
	LegacyStop      LegacyCommand = 3
	LegacyHeartbeat LegacyCommand = 50
)

// LegacyFrames returns the frames of a block, which has the layout of a record's sound: u8 length,
// frame, and so on. They alias b.
func LegacyFrames(b []byte) [][]byte { return cutFrames(b) }

const (
	legacyFile = 1
	// LegacyBlock is the most bytes of a block, and the step of offsets.
	LegacyBlock = 440
)

// Bytes writes a command, with the offset rounded down as the device would.
func (c LegacyCommand) Bytes(offset uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{byte(c), legacyFile}, offset-offset%LegacyBlock)
}

// LegacyStatus is the result of a command to legacy storage.
type LegacyStatus uint8

// The statuses; 3, 4 and 6 are errors.
const (
	LegacyOK      LegacyStatus = 0
	LegacyDone    LegacyStatus = 100
	LegacyDeleted LegacyStatus = 200
)

// Failed reports whether it is an error.
func (s LegacyStatus) Failed() bool { return s == 3 || s == 4 || s == 6 }

// ParseLegacy reads a notification of legacy storage: a block, which aliases b, or, if that is nil,
// a status.
func ParseLegacy(b []byte) (block []byte, status LegacyStatus, err error) {
	switch {
	case len(b) == 0 || len(b) > LegacyBlock:
		return nil, 0, malformed("legacy storage", "a notification of %d bytes, want 1 to %d", len(b), LegacyBlock)
	case len(b) > 1:
		return b, 0, nil
	}
	switch s := LegacyStatus(b[0]); s {
	case LegacyOK, 3, 4, 6, LegacyDone, LegacyDeleted:
		return nil, s, nil
	}
	return nil, 0, malformed("legacy storage", "status %d is not known", b[0])
}

// Storage is the value of StorageState: 8 bytes for legacy storage, 16 for a ring, which tells them
// apart.
//
//	0  u32  legacy: bytes in the file    ring: bytes used
//	4  u32  legacy: offset that was read ring: unread records
//	8  u32                               ring: bytes free
//	12 u32                               ring: 1 if the clock is set
type Storage struct {
	Ring       bool
	Used       uint32 // bytes
	Offset     uint32 // legacy: bytes
	Unread     uint32 // ring: records
	Free       uint32 // ring: bytes
	ClockValid bool   // ring
}

// ParseStorage reads StorageState.
func ParseStorage(b []byte) (Storage, error) {
	le := binary.LittleEndian
	switch len(b) {
	case 8:
		return Storage{Used: le.Uint32(b), Offset: le.Uint32(b[4:])}, nil
	case 16:
		return Storage{Ring: true, Used: le.Uint32(b), Unread: le.Uint32(b[4:]), Free: le.Uint32(b[8:]), ClockValid: le.Uint32(b[12:]) != 0}, nil
	}
	return Storage{}, malformed("storage", "%d bytes, want 8 or 16", len(b))
}
