// Package nexmark is the Nexmark benchmark: a stream of people, auctions and bids, and
// queries on it.
//
// # Events
//
// Of 50 events in a row the first is a person, the next three are auctions, the others
// bids. Everything about event number n follows from n, the seed and the rate of event
// time (Generator), so that splits of any number, and jobs that go on from a checkpoint,
// have the same events. Proportions, ids, skew, prices and sizes are those of the Nexmark
// of Apache Flink and Beam; the random numbers are not, since theirs cannot be repeated:
// compare results on the same events, which Export writes to a file.
//
// The source's splits take turns with blocks of 100 events, on one timeline. Events are
// lent: the source makes each in the place of the one before it. Texts of events are
// views into tables that the generator has made once.
//
// # Results
//
// Every query's result is a table. Queries whose rows change pass on changes, of which
// old rows count negative, so that what is left is the table. Its Result is the number
// of rows and a hash that does not depend on their order, with which tables of different
// engines can be compared: the sum, modulo 2^64, of the hashes of the rows. A row begins
// with h = 0x6E65786D61726B21 and takes 64-bit words v, one after the other:
//
//	h = (h XOR v) * 0x9E3779B97F4A7C15 mod 2^64;  h = h XOR (h >> 32)
//
// A number is one word, in two's complement. A text is its length in bytes, and then its
// bytes in words of eight, the first byte lowest, the last word filled up with zeros.
// Query.Columns has the order of the fields. Prices are cents; price*908 is the product,
// in thousandths of a cent; averages are rounded down; times and starts of windows are
// Unix milliseconds, days are days since 1970, minutes are minutes of the day. Where SQL
// leaves open which of several rows is meant, q9 and q19 take the higher price, then the
// earlier time, then the smaller bidder, then the smaller extra; q18 the later time, then
// the higher price, then the greater extra, then the greater URL.
//
// The queries are those of Flink's SQL, with these differences: q4, q6 and q9 decide an
// auction once event time has passed its end, and q6 takes the last ten auctions of a
// seller by their ends; q13 looks up a table that all subtasks share, in which key k has
// the text of k; q16 has the minute as a number. Bids exactly 10 s apart are in two sessions
// of q11; in Flink that depends on how far its watermark has come. What a window of
// processing time holds is another each time, so q12 adds up the windows of each bidder.
// q10 writes files, without times at which a partition counts as complete; its result is
// what is in them, with the columns that are in the names of their folders.
//
// # Files of events
//
// Export writes the events one after the other, in binary or, if the name ends in .tsv,
// as text. Numbers in binary files are little-endian:
//
//	event    length of what follows, 4 bytes; kind, 1 byte (0 person, 1 auction, 2 bid); fields
//	person   id, time: 8 bytes each; lengths of 6 texts, 2 bytes each;
//	         name, e-mail, credit card, city, state, extra
//	auction  id, initial bid, reserve, time, expires, seller, category: 8 bytes each;
//	         lengths of 3 texts, 2 bytes each; item, description, extra
//	bid      auction, bidder, price, time: 8 bytes each; lengths of 3 texts, 2 bytes each;
//	         channel, URL, extra
//
// Lines of text have the fields in the order of Flink's tables, after P, A or B, with tabs
// between them:
//
//	P  id  name  emailAddress  creditCard  city  state  dateTime  extra
//	A  id  itemName  description  initialBid  reserve  dateTime  expires  seller  category  extra
//	B  auction  bidder  price  channel  url  dateTime  extra
//
// # Goroutines
//
// A source with a pace has a timer, which its reader's Close stops. The suite samples
// memory in a goroutine that it joins.
package nexmark
