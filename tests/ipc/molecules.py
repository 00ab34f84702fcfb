"""What bench/ipc/molecules.c computes, once more and simply: every force by itself, all atoms by one process."""

import math

SPACING, STEP, BOND, BOND_LENGTH, CHAIN = 1.2, 0.002, 100.0, 1.1, 4


def energies_of(atoms, steps):
    """Energies of pairs, of bonds and of motion after so many steps."""
    sides = next(sides for sides in range(1, atoms + 1) if sides**3 >= atoms)
    side = sides * SPACING
    places, speeds = [], []
    for atom in range(atoms):
        row, x = divmod(atom, sides)
        z, y = divmod(row, sides)
        site = [sides - 1 - x if row % 2 else x, sides - 1 - y if z % 2 else y, z]
        numbers = range(3 * atom + 1, 3 * atom + 4)
        places.append([SPACING * where + 0.05 * math.sin(1.7 * number) for where, number in zip(site, numbers)])
        speeds.append([0.3 * math.cos(2.3 * number) for number in numbers])

    def lennard_jones(distance):
        return 4 * (distance**-12 - distance**-6)

    def forces():
        found = [[0.0] * 3 for _ in places]
        of_pairs = of_bonds = 0.0
        for one in range(atoms):
            for other in range(one):
                between = [a - b for a, b in zip(places[one], places[other])]
                between = [along - side * math.floor(along / side + 0.5) for along in between]
                distance = math.hypot(*between)
                if one == other + 1 and one % CHAIN != 0:
                    of_bonds += BOND * (distance - BOND_LENGTH) ** 2
                    force = -2 * BOND * (distance - BOND_LENGTH)
                elif distance < side / 2:
                    of_pairs += lennard_jones(distance) - lennard_jones(side / 2)
                    force = 48 * distance**-13 - 24 * distance**-7
                else:
                    continue
                for axis, along in enumerate(between):
                    found[one][axis] += force * along / distance
                    found[other][axis] -= force * along / distance
        return found, of_pairs, of_bonds

    def push(found):
        for speed, force in zip(speeds, found):
            speed[:] = [a + STEP / 2 * b for a, b in zip(speed, force)]

    found, of_pairs, of_bonds = forces()
    for _ in range(steps):
        push(found)
        for place, speed in zip(places, speeds):
            place[:] = [a + STEP * b for a, b in zip(place, speed)]
        found, of_pairs, of_bonds = forces()
        push(found)
    return of_pairs, of_bonds, sum(along**2 for speed in speeds for along in speed) / 2
