package abi

// Readers of one field; the name goes into errors.

// text reads a string of any length that fits into a message.
func (d *decoder) text(name string) string { return d.str(name, MaxInput) }

// name reads a string in a list, or a label.
func (d *decoder) name(name string) string { return d.str(name, MaxName) }

func (d *decoder) str(name string, most int) string {
	d.push(name)
	s := d.string(most)
	d.pop()
	return s
}

func (d *decoder) blob(name string, most int) []byte {
	d.push(name)
	p := d.bytes(most)
	d.pop()
	return p
}

func (d *decoder) number(name string) int64 {
	d.push(name)
	v := d.int()
	d.pop()
	return v
}

// size reads a number that is not negative and fits in 32 bits.
func (d *decoder) size(name string) int {
	d.push(name)
	v := d.small()
	if v < 0 {
		d.fail(CodeNumber)
		v = 0
	}
	d.pop()
	return v
}

func (d *decoder) real(name string) float64 {
	d.push(name)
	v := d.float()
	d.pop()
	return v
}

func (d *decoder) flag(name string) bool {
	d.push(name)
	v := d.bool()
	d.pop()
	return v
}

func (d *decoder) words(name string, list []string, most, each int) []string {
	d.push(name)
	list = d.strings(list, most, each)
	d.pop()
	return list
}
