package schedule

// golden is the step of SplitMix64's counter: 2⁶⁴ divided by the golden ratio.
const golden = 0x9E3779B97F4A7C15

// mix is the output function of SplitMix64 (Steele, Lea and Flood, 2014). The
// words mix(s), mix(s+golden), mix(s+2·golden), … are that generator's stream
// for the seed s, and any of them can be had without those before it.
func mix(x uint64) uint64 {
	x += golden
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}
