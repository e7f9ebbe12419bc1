package wire

import (
	"encoding/binary"
	"errors"
)

// The data of codec opus is one of two, told apart by its first bytes:
//
//	"OggS" …                          an Ogg Opus stream (RFC 7845), or a whole file
//	len u16 BE, packet, len, packet…  bare Opus packets in order, len 1 to 4000
//
// "OggS" read as a length would be 20327, so that the two cannot be confused.

// maxOpusPacket is the largest packet that is accepted; libopus's documentation
// recommends 4000 bytes as an encoder's buffer.
const maxOpusPacket = 4000

var (
	errOpus       = errors.New("opus: want packets of 1 to 4000 bytes, each after its length as u16 big-endian, or an Ogg stream")
	errOpusPacket = errors.New("opus: a packet has 1 to 4000 bytes")
)

// Packets splits the data of codec opus into its packets, without copying. For an
// Ogg stream it returns none and no error, because a demuxer has to read that.
func Packets(data []byte) ([][]byte, error) {
	if IsOgg(data) {
		return nil, nil
	}
	var out [][]byte
	for len(data) > 0 {
		if len(data) < 2 {
			return nil, errOpus
		}
		n := int(binary.BigEndian.Uint16(data))
		if n == 0 || n > maxOpusPacket || n > len(data)-2 {
			return nil, errOpus
		}
		out = append(out, data[2:2+n:2+n])
		data = data[2+n:]
	}
	return out, nil
}

// IsOgg reports whether data of codec opus is an Ogg stream.
func IsOgg(data []byte) bool { return len(data) >= 4 && string(data[:4]) == "OggS" }

// AppendPacket adds one packet to data of codec opus.
func AppendPacket(data, packet []byte) ([]byte, error) {
	if len(packet) == 0 || len(packet) > maxOpusPacket {
		return data, errOpusPacket
	}
	return append(binary.BigEndian.AppendUint16(data, uint16(len(packet))), packet...), nil
}
