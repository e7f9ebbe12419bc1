package seal

import "strings"

const bech32Alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"

// bech32 encodes data under an upper-case prefix, in upper case (BIP 173). It is needed because age
// reads identities only in this form, and does not export its encoder.
func bech32(prefix string, data []byte) string {
	low := strings.ToLower(prefix)
	values := make([]byte, 0, len(data)*8/5+7)
	acc, bits := uint32(0), 0
	for _, b := range data {
		acc, bits = acc<<8|uint32(b), bits+8
		for bits >= 5 {
			bits -= 5
			values = append(values, byte(acc>>bits)&31)
		}
	}
	if bits > 0 {
		values = append(values, byte(acc<<(5-bits))&31)
	}
	check := uint32(1)
	for _, c := range []byte(low) {
		check = bech32Step(check, c>>5)
	}
	check = bech32Step(check, 0)
	for _, c := range []byte(low) {
		check = bech32Step(check, c&31)
	}
	for _, v := range values {
		check = bech32Step(check, v)
	}
	for range 6 {
		check = bech32Step(check, 0)
	}
	check ^= 1
	for i := range 6 {
		values = append(values, byte(check>>(5*(5-i)))&31)
	}
	var s strings.Builder
	s.WriteString(low)
	s.WriteByte('1')
	for _, v := range values {
		s.WriteByte(bech32Alphabet[v])
	}
	return strings.ToUpper(s.String())
}

// bech32Step is one round of the checksum's polynomial of BIP 173.
func bech32Step(check uint32, v byte) uint32 {
	top := check >> 25
	check = (check&0x1ffffff)<<5 ^ uint32(v)
	for i, g := range [...]uint32{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3} {
		if top>>i&1 == 1 {
			check ^= g
		}
	}
	return check
}
