//! The naive model: a type map as a list, built element by element from the standard's definitions, and random types.

use crate::datatypes::{CountForm, Datatype, Kind};
use postrider_abi::predefined::BasicKind;
use postrider_abi::*;
use proptest::prelude::*;
use std::sync::Arc;

/// A type map: every element with its displacement, and the bounds.
#[derive(Clone, Debug, Default)]
pub struct Model {
    pub elements: Vec<(Kind, i64)>,
    pub bounds: Option<(i64, i64)>,
    pub marked: bool,
    pub alignment: i64,
}

impl Model {
    fn basic(kind: Kind) -> Self {
        Self {
            elements: vec![(kind, 0)],
            bounds: Some((0, kind.row().extent as i64)),
            marked: false,
            alignment: kind.row().alignment as i64,
        }
    }

    /// The maps at their displacements, one after the other.
    fn placed<'a>(copies: impl Iterator<Item = (i64, &'a Self)> + Clone) -> Self {
        let marked = copies.clone().any(|(_, map)| map.marked);
        let mut result = Self { marked, alignment: 1, ..Self::default() };
        for (at, map) in copies {
            result.elements.extend(map.elements.iter().map(|&(kind, place)| (kind, place + at)));
            result.alignment = result.alignment.max(map.alignment);
            let Some((lb, ub)) = map.bounds.filter(|_| map.marked == marked) else { continue };
            let (lowest, highest) = result.bounds.unwrap_or((lb + at, ub + at));
            result.bounds = Some((lowest.min(lb + at), highest.max(ub + at)));
        }
        result
    }

    /// Blocks of this map at displacements in bytes.
    fn blocks(&self, blocks: &[(i64, i64)]) -> Self {
        let copies = blocks.iter().flat_map(|&(length, at)| (0..length).map(move |i| at + i * self.extent()));
        let copies: Vec<i64> = copies.collect();
        Self::placed(copies.iter().map(|&at| (at, self)))
    }

    pub fn lb(&self) -> i64 {
        self.bounds.map_or(0, |(lb, _)| lb)
    }

    pub fn extent(&self) -> i64 {
        self.bounds.map_or(0, |(lb, ub)| ub - lb)
    }

    /// Basic elements with their lengths: a pair is two.
    pub fn basics(&self) -> Vec<(i64, usize)> {
        let members = |&(kind, at): &(Kind, i64)| match kind.class() {
            BasicKind::Pair { value, index, index_offset } => {
                vec![(at, value.bytes()), (at + index_offset as i64, index.bytes())]
            }
            _ => vec![(at, kind.size())],
        };
        self.elements.iter().flat_map(members).collect()
    }

    /// The displacement of every byte of the packed stream of `count` elements.
    pub fn stream(&self, count: i64) -> Vec<i64> {
        let (basics, extent) = (self.basics(), self.extent());
        let bytes = |&(at, length): &(i64, usize)| (0..length as i64).map(move |byte| at + byte);
        let one: Vec<i64> = basics.iter().flat_map(bytes).collect();
        (0..count).flat_map(|element| one.iter().map(move |at| at + element * extent)).collect()
    }
}

/// How to make a random type.
#[derive(Clone, Debug)]
pub enum Recipe {
    Basic(MPI_Datatype),
    Contiguous(i64, Box<Recipe>),
    Vector(i64, i64, i64, Box<Recipe>),
    Hvector(i64, i64, i64, Box<Recipe>),
    Indexed(Vec<(i64, i64)>, Box<Recipe>),
    Hindexed(Vec<(i64, i64)>, Box<Recipe>),
    IndexedBlock(i64, Vec<i64>, Box<Recipe>),
    HindexedBlock(i64, Vec<i64>, Box<Recipe>),
    Struct(Vec<(i64, i64, Recipe)>),
    Resized(i64, i64, Box<Recipe>),
    Subarray(Vec<(i64, i64, i64)>, bool, Box<Recipe>),
    Dup(Box<Recipe>),
}

const BASICS: [MPI_Datatype; 9] = [
    MPI_BYTE,
    MPI_SHORT,
    MPI_INT,
    MPI_DOUBLE,
    MPI_C_DOUBLE_COMPLEX,
    MPI_FLOAT_INT,
    MPI_SHORT_INT,
    MPI_DOUBLE_INT,
    MPI_2INTEGER,
];

pub fn recipe() -> impl Strategy<Value = Recipe> {
    let leaf = proptest::sample::select(&BASICS[..]).prop_map(Recipe::Basic);
    leaf.prop_recursive(3, 16, 3, |inner| {
        let one = inner.clone().prop_map(Box::new);
        let pairs = || prop::collection::vec((0..4i64, -10..10i64), 0..5);
        let places = || prop::collection::vec(-20..20i64, 0..5);
        let members = prop::collection::vec((0..3i64, -30..60i64, inner), 0..4);
        let dimension = (1..5i64, 0..5i64, 0..5i64).prop_map(|(size, sub, start)| {
            let sub = sub.min(size);
            (size, sub, start.min(size - sub))
        });
        prop_oneof![
            (0..5i64, one.clone()).prop_map(|(n, t)| Recipe::Contiguous(n, t)),
            (0..5i64, 0..4i64, -5..6i64, one.clone()).prop_map(|(n, b, s, t)| Recipe::Vector(n, b, s, t)),
            (0..5i64, 0..4i64, -20..40i64, one.clone()).prop_map(|(n, b, s, t)| Recipe::Hvector(n, b, s, t)),
            (pairs(), one.clone()).prop_map(|(b, t)| Recipe::Indexed(b, t)),
            (pairs(), one.clone()).prop_map(|(b, t)| Recipe::Hindexed(b, t)),
            (0..4i64, places(), one.clone()).prop_map(|(b, p, t)| Recipe::IndexedBlock(b, p, t)),
            (0..4i64, places(), one.clone()).prop_map(|(b, p, t)| Recipe::HindexedBlock(b, p, t)),
            members.prop_map(Recipe::Struct),
            (-20..20i64, -10..60i64, one.clone()).prop_map(|(l, e, t)| Recipe::Resized(l, e, t)),
            (prop::collection::vec(dimension, 1..4), any::<bool>(), one.clone())
                .prop_map(|(d, c, t)| Recipe::Subarray(d, c, t)),
            one.prop_map(Recipe::Dup),
        ]
    })
}

const FORM: CountForm = CountForm::Large;

impl Recipe {
    /// The type by our constructors.
    pub fn datatype(&self) -> Arc<Datatype> {
        match self {
            Self::Basic(handle) => Arc::clone(Datatype::predefined(*handle).unwrap()),
            Self::Contiguous(count, old) => Datatype::contiguous(FORM, *count, &old.datatype()).unwrap(),
            Self::Vector(count, length, stride, old) => {
                Datatype::vector(FORM, *count, *length, *stride, &old.datatype()).unwrap()
            }
            Self::Hvector(count, length, stride, old) => {
                Datatype::hvector(FORM, *count, *length, *stride, &old.datatype()).unwrap()
            }
            Self::Indexed(blocks, old) => {
                let (lengths, places): (Vec<_>, Vec<_>) = blocks.iter().copied().unzip();
                Datatype::indexed(FORM, &lengths, &places, &old.datatype()).unwrap()
            }
            Self::Hindexed(blocks, old) => {
                let (lengths, places): (Vec<_>, Vec<_>) = blocks.iter().copied().unzip();
                Datatype::hindexed(FORM, &lengths, &places, &old.datatype()).unwrap()
            }
            Self::IndexedBlock(length, places, old) => {
                Datatype::indexed_block(FORM, *length, places, &old.datatype()).unwrap()
            }
            Self::HindexedBlock(length, places, old) => {
                Datatype::hindexed_block(FORM, *length, places, &old.datatype()).unwrap()
            }
            Self::Struct(members) => {
                let lengths: Vec<_> = members.iter().map(|member| member.0).collect();
                let places: Vec<_> = members.iter().map(|member| member.1).collect();
                let types: Vec<_> = members.iter().map(|member| member.2.datatype()).collect();
                Datatype::structure(FORM, &lengths, &places, &types).unwrap()
            }
            Self::Resized(lb, extent, old) => Datatype::resized(FORM, *lb, *extent, &old.datatype()).unwrap(),
            Self::Subarray(dimensions, c, old) => {
                let column = |pick: fn(&(i64, i64, i64)) -> i64| dimensions.iter().map(pick).collect();
                let (sizes, subsizes, starts): (Vec<_>, Vec<_>, Vec<_>) =
                    (column(|d| d.0), column(|d| d.1), column(|d| d.2));
                let order = if *c { MPI_ORDER_C } else { MPI_ORDER_FORTRAN };
                Datatype::subarray(FORM, &sizes, &subsizes, &starts, order, &old.datatype()).unwrap()
            }
            Self::Dup(old) => Datatype::dup(&old.datatype()),
        }
    }

    /// The type by definition.
    pub fn model(&self) -> Model {
        let strided = |count: i64, length: i64, stride: i64| -> Vec<_> {
            (0..count).map(|block| (length, block * stride)).collect()
        };
        match self {
            Self::Basic(handle) => Model::basic(Kind::from_handle(*handle).unwrap()),
            Self::Contiguous(count, old) => old.model().blocks(&[(*count, 0)]),
            Self::Vector(count, length, stride, old) => {
                let old = old.model();
                old.blocks(&strided(*count, *length, stride * old.extent()))
            }
            Self::Hvector(count, length, stride, old) => {
                old.model().blocks(&strided(*count, *length, *stride))
            }
            Self::Indexed(blocks, old) => {
                let old = old.model();
                let blocks = blocks.iter().map(|&(length, at)| (length, at * old.extent()));
                old.blocks(&blocks.collect::<Vec<_>>())
            }
            Self::Hindexed(blocks, old) => old.model().blocks(blocks),
            Self::IndexedBlock(length, places, old) => {
                let old = old.model();
                let blocks = places.iter().map(|at| (*length, at * old.extent()));
                old.blocks(&blocks.collect::<Vec<_>>())
            }
            Self::HindexedBlock(length, places, old) => {
                old.model().blocks(&places.iter().map(|&at| (*length, at)).collect::<Vec<_>>())
            }
            Self::Struct(members) => structure(members),
            Self::Resized(lb, extent, old) => {
                Model { bounds: Some((*lb, lb + extent)), marked: true, ..old.model() }
            }
            Self::Subarray(dimensions, c, old) => subarray(dimensions, *c, &old.model()),
            Self::Dup(old) => old.model(),
        }
    }
}

fn structure(members: &[(i64, i64, Recipe)]) -> Model {
    let parts: Vec<_> =
        members.iter().map(|(length, at, recipe)| recipe.model().blocks(&[(*length, *at)])).collect();
    let mut whole = Model::placed(parts.iter().map(|part| (0, part)));
    if let Some((lb, ub)) = whole.bounds.filter(|_| !whole.marked) {
        let mut ub = ub;
        while (ub - lb) % whole.alignment != 0 {
            ub += 1;
        }
        whole.bounds = Some((lb, ub));
    }
    whole
}

/// Every index of the array in the order of memory, kept if it is within the part.
fn subarray(dimensions: &[(i64, i64, i64)], c: bool, old: &Model) -> Model {
    let mut slowest_first = dimensions.to_vec();
    if !c {
        slowest_first.reverse();
    }
    let all: i64 = dimensions.iter().map(|dimension| dimension.0).product();
    let mut chosen = Vec::new();
    for linear in 0..all {
        let mut rest = linear;
        let inside = slowest_first.iter().rev().all(|&(size, subsize, start)| {
            let index = rest % size;
            rest /= size;
            (start..start + subsize).contains(&index)
        });
        if inside {
            chosen.push((1, linear * old.extent()));
        }
    }
    Model { bounds: Some((0, all * old.extent())), marked: true, ..old.blocks(&chosen) }
}
