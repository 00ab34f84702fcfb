//! Random types against the naive model, and the facts that the standard states by example.

mod examples;
mod model;

use super::*;
use model::{Model, Recipe, recipe};
use postrider_os::memory::{OwnedMemory, UserMemory};
use proptest::prelude::*;

/// Types whose packed stream for a few elements is longer than this are not looked at byte by byte.
const STREAM_BYTES_MAX: usize = 20_000;

/// Memory that holds all data of some elements, with the address that the displacements start from.
struct Buffer {
    memory: OwnedMemory,
    lowest: i64,
}

impl Buffer {
    fn new(stream: &[i64]) -> Self {
        let lowest = stream.iter().copied().min().unwrap_or(0);
        let highest = stream.iter().copied().max().unwrap_or(0);
        let mut memory = OwnedMemory::new((highest - lowest + 1) as usize);
        let all = UserMemory::of(&mut memory);
        for byte in 0..=highest - lowest {
            all.offset(byte).store((byte as u8).wrapping_mul(37).wrapping_add((byte >> 8) as u8));
        }
        Self { memory, lowest }
    }

    fn base(&mut self) -> UserMemory {
        UserMemory::of(&mut self.memory).offset(-self.lowest)
    }

    fn bytes(&mut self) -> Vec<u8> {
        let mut bytes = vec![0; self.memory.len()];
        UserMemory::of(&mut self.memory).read(&mut bytes);
        bytes
    }

    /// The bytes at the displacements of a stream.
    fn gathered(&mut self, stream: &[i64]) -> Vec<u8> {
        let (bytes, lowest) = (self.bytes(), self.lowest);
        stream.iter().map(|at| bytes[(at - lowest) as usize]).collect()
    }
}

fn has_overlap(stream: &[i64]) -> bool {
    let mut sorted = stream.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}

/// A type with its model, and the displacements of the stream of `count` elements.
fn sample(recipe: &Recipe, count: i64) -> Option<(Arc<Datatype>, Model, Vec<i64>)> {
    let model = recipe.model();
    let bytes: usize = model.elements.iter().map(|(kind, _)| kind.size()).sum();
    (bytes * count as usize <= STREAM_BYTES_MAX).then(|| {
        let stream = model.stream(count);
        (recipe.datatype(), model, stream)
    })
}

fn part(stream: &[i64], from: prop::sample::Index, to: prop::sample::Index) -> (usize, usize) {
    let (a, b) = (from.index(stream.len() + 1), to.index(stream.len() + 1));
    (a.min(b), a.max(b))
}

/// Long runs go from place to place without a buffer between, and parts longer than the buffer in several pieces.
#[test]
fn long_messages_are_copied_whole() {
    let byte = Datatype::predefined(postrider_abi::MPI_BYTE).expect("a named type");
    for (blocks, length) in [(60, 700), (20_000, 3)] {
        let typed = Datatype::vector(CountForm::Int, blocks, length, length + 1, byte).expect("a small type");
        let (size, span) = (typed.size(), typed.true_extent());
        let mut buffer = Buffer::new(&(0..span).collect::<Vec<_>>());
        let places: Vec<i64> = (0..span).filter(|at| at % (length + 1) < length).collect();
        let expected = buffer.gathered(&places);
        let mut packed = OwnedMemory::new(size as usize);
        let place = UserMemory::of(&mut packed);
        copy((&typed, 1, buffer.base()), (byte, size, place)).expect("it fits");
        let mut found = vec![0; size as usize];
        place.read(&mut found);
        assert_eq!(found, expected);
        let mut other = Buffer::new(&(0..span).collect::<Vec<_>>());
        other.base().write(&vec![0; span as usize]);
        copy((byte, size, place), (&typed, 1, other.base())).expect("it fits");
        assert_eq!(other.gathered(&places), expected);
        assert!((0..span).filter(|at| at % (length + 1) == length).all(|at| other.bytes()[at as usize] == 0));
    }
}

/// Random types seldom continue each other by a stride; here all combinations of small strides do.
#[test]
fn nested_vectors_of_all_small_strides_are_those_of_the_model() {
    let strides = || (-4..=8).map(|stride| 2 * stride);
    for (inner, step) in (1..4).flat_map(|count| strides().map(move |stride| (count, stride))) {
        for (outer, stride) in (1..4).flat_map(|count| strides().map(move |stride| (count, stride))) {
            let short = Box::new(Recipe::Basic(postrider_abi::MPI_SHORT));
            let child = Box::new(Recipe::Hvector(inner, 1, step, short));
            let recipe = Recipe::Hvector(outer, 1, stride, child);
            let (datatype, _, stream) = sample(&recipe, 2).expect("a short type");
            let mut places = Vec::new();
            segments(&datatype, 2, 0, stream.len(), &mut |at, bytes| places.extend(at..at + bytes as i64));
            assert_eq!(places, stream, "{recipe:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn numbers_are_those_of_the_definitions(recipe in recipe()) {
        let Some((datatype, model, stream)) = sample(&recipe, 1) else { return Ok(()) };
        prop_assert_eq!(datatype.size(), stream.len() as i64);
        prop_assert_eq!((datatype.lb(), datatype.extent()), (model.lb(), model.extent()));
        let lowest = stream.iter().min().copied().unwrap_or(0);
        let highest = stream.iter().max().map_or(0, |at| at + 1);
        prop_assert_eq!((datatype.true_lb(), datatype.true_extent()), (lowest, highest - lowest));
        prop_assert_eq!(datatype.alignment(), model.alignment);
        prop_assert_eq!(datatype.signature().elements(), model.basics().len() as u64);
        let mut kinds = Vec::new();
        let _ = datatype.signature().for_each_run(&mut |kind, count| {
            kinds.extend((0..count).map(|_| kind));
            std::ops::ControlFlow::<()>::Continue(())
        });
        prop_assert_eq!(&kinds, &model.elements.iter().map(|element| element.0).collect::<Vec<_>>());
        let single = kinds.first().copied().filter(|first| kinds.iter().all(|kind| kind == first));
        prop_assert_eq!(datatype.signature().single_kind(), single);
        let ascending = stream.windows(2).all(|pair| pair[1] == pair[0] + 1);
        prop_assert_eq!(datatype.is_contiguous(), ascending);
    }

    #[test]
    fn density_means_one_run(recipe in recipe(), count in 0..4i64) {
        let Some((datatype, _, stream)) = sample(&recipe, count) else { return Ok(()) };
        let ascending = stream.windows(2).all(|pair| pair[1] == pair[0] + 1);
        prop_assert_eq!(datatype.is_dense_for(count) || count == 0, ascending || count == 0);
        prop_assert!(!datatype.is_dense() || ascending);
    }

    #[test]
    fn any_part_of_the_stream_is_packed_and_unpacked(
        recipe in recipe(), count in 0..4i64, from: prop::sample::Index, to: prop::sample::Index,
    ) {
        let Some((datatype, _, stream)) = sample(&recipe, count) else { return Ok(()) };
        let (from, to) = part(&stream, from, to);
        let mut buffer = Buffer::new(&stream);
        prop_assert_eq!(pack_size(&datatype, count), stream.len() as u64);
        let mut packed = vec![0; to - from];
        pack_range(&datatype, count, buffer.base(), from as u64, &mut packed);
        prop_assert_eq!(&packed, &buffer.gathered(&stream[from..to]));
        if has_overlap(&stream) {
            return Ok(());
        }
        let mut expected = buffer.bytes();
        for at in &stream[from..to] {
            expected[(at - buffer.lowest) as usize] ^= 0xff;
        }
        packed.iter_mut().for_each(|byte| *byte ^= 0xff);
        unpack_range(&datatype, count, buffer.base(), from as u64, &packed);
        prop_assert_eq!(buffer.bytes(), expected);
    }

    #[test]
    fn memory_takes_the_place_of_a_slice(
        recipe in recipe(), count in 0..4i64, from: prop::sample::Index, to: prop::sample::Index,
    ) {
        let Some((datatype, _, stream)) = sample(&recipe, count) else { return Ok(()) };
        let (from, to) = part(&stream, from, to);
        let mut buffer = Buffer::new(&stream);
        let mut packed = OwnedMemory::new(to - from);
        let place = UserMemory::of(&mut packed);
        pack_to(&datatype, count, buffer.base(), from as u64, place, to - from);
        let mut found = vec![0; to - from];
        place.read(&mut found);
        prop_assert_eq!(&found, &buffer.gathered(&stream[from..to]));
        let mut expected = Buffer::new(&stream);
        found.reverse();
        place.write(&found);
        unpack_range(&datatype, count, expected.base(), from as u64, &found);
        unpack_from(&datatype, count, buffer.base(), from as u64, place, to - from);
        prop_assert_eq!(buffer.bytes(), expected.bytes());
    }

    #[test]
    fn segments_are_the_stream_in_longest_runs(
        recipe in recipe(), count in 0..4i64, from: prop::sample::Index, to: prop::sample::Index,
    ) {
        let Some((datatype, _, stream)) = sample(&recipe, count) else { return Ok(()) };
        let (from, to) = part(&stream, from, to);
        let mut found: Vec<(i64, usize)> = Vec::new();
        segments(&datatype, count, from as u64, to - from, &mut |at, bytes| found.push((at, bytes)));
        let places: Vec<i64> = found.iter().flat_map(|&(at, bytes)| at..at + bytes as i64).collect();
        prop_assert_eq!(&places[..], &stream[from..to]);
        prop_assert!(found.windows(2).all(|pair| pair[0].0 + pair[0].1 as i64 != pair[1].0));
    }

    #[test]
    fn copies_are_those_of_a_message(
        source in recipe(), destination in recipe(), counts in (0..40i64, 0..40i64),
    ) {
        let (Some((source, _, from)), Some((destination, _, to))) =
            (sample(&source, counts.0), sample(&destination, counts.1)) else { return Ok(()) };
        if has_overlap(&to) {
            return Ok(());
        }
        let (mut source_buffer, mut buffer) = (Buffer::new(&from), Buffer::new(&to));
        let mut expected = buffer.bytes();
        for (byte, at) in source_buffer.gathered(&from).iter().zip(&to) {
            expected[(at - buffer.lowest) as usize] = *byte;
        }
        let result = copy((&source, counts.0, source_buffer.base()), (&destination, counts.1, buffer.base()));
        prop_assert_eq!(result.is_ok(), from.len() <= to.len());
        prop_assert_eq!(buffer.bytes(), expected);
    }

    #[test]
    fn elements_of_partial_messages_are_counted(recipe in recipe()) {
        let Some((datatype, model, stream)) = sample(&recipe, 2) else { return Ok(()) };
        let mut ends = vec![0];
        for (_, bytes) in model.basics().iter().chain(&model.basics()) {
            ends.push(ends[ends.len() - 1] + *bytes as i64);
        }
        for bytes in 0..=stream.len() as i64 {
            let elements = ends.iter().position(|&end| end == bytes).map(|index| index as i64);
            prop_assert_eq!(datatype.elements_in(bytes), elements, "in {} bytes", bytes);
            let whole = if datatype.size() == 0 { Some(0) } else {
                (bytes % datatype.size() == 0).then(|| bytes / datatype.size())
            };
            prop_assert_eq!(datatype.count_in(bytes), whole);
        }
        for (elements, &end) in ends.iter().enumerate() {
            prop_assert_eq!(datatype.bytes_of_elements(elements as i64), end);
        }
    }

    #[test]
    fn external32_is_the_basic_elements_in_big_endian(recipe in recipe(), count in 0..4i64) {
        let Some((datatype, model, stream)) = sample(&recipe, count) else { return Ok(()) };
        let mut buffer = Buffer::new(&stream);
        let mut expected = buffer.gathered(&stream);
        let lengths = (0..count).flat_map(|_| model.elements.iter()).flat_map(|(kind, _)| {
            use postrider_abi::predefined::BasicKind::{Complex, Pair};
            match kind.class() {
                Complex(format) => vec![format.bytes(); 2],
                Pair { value, index, .. } => vec![value.bytes(), index.bytes()],
                _ => vec![kind.size()],
            }
        });
        let mut at = 0;
        for length in lengths.filter(|_| cfg!(target_endian = "little")) {
            expected[at..at + length].reverse();
            at += length;
        }
        prop_assert_eq!(pack_external_size(&datatype, count).unwrap(), expected.len() as i64);
        let mut packed = vec![0; expected.len()];
        prop_assert_eq!(
            pack_external(&datatype, count, buffer.base(), &mut packed), Ok(expected.len()));
        prop_assert_eq!(&packed, &expected);
        let before = buffer.bytes();
        unpack_external(&datatype, count, buffer.base(), &packed).unwrap();
        prop_assert_eq!(before, buffer.bytes());
    }
}
