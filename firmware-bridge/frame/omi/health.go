package omi

import (
	"encoding/binary"
	"time"
)

// Health is what the device has counted about itself since it started
// (omi/firmware/omi/src/lib/core/transport.c, read of Diagnostics; version 1):
//
//	0  u8   version, 1
//	1 u32 cause of the last reset, as in Zephyr's hwinfo
//	5  u32  seconds since the start
//	9  u16  battery in mV; FFFF: not known
//	11 u8   1: charging, 0: not, FF: not known
//	12 u8   0
//	13 u32  overruns of the microphone's buffer
//	17 u32  notifications that the radio dropped
//	21 u32  errors of the storage
type Health struct {
	ResetCause    uint32
	Uptime        time.Duration
	MicOverruns   uint32
	RadioDrops    uint32
	StorageErrors uint32
}

// healthSize is the length of version 1. A later version may append fields.
const healthSize = 25

// ParseHealth reads Diagnostics.
func ParseHealth(b []byte) (Health, error) {
	if len(b) < healthSize {
		return Health{}, malformed("diagnostics", "%d bytes, want at least %d", len(b), healthSize)
	}
	if b[0] != 1 {
		return Health{}, malformed("diagnostics", "version %d, want 1", b[0])
	}
	le := binary.LittleEndian
	return Health{
		ResetCause: le.Uint32(b[1:]), Uptime: time.Duration(le.Uint32(b[5:])) * time.Second,
		MicOverruns: le.Uint32(b[13:]), RadioDrops: le.Uint32(b[17:]), StorageErrors: le.Uint32(b[21:]),
	}, nil
}
